import { defineConfig } from "vitest/config";

// For the test files that pages show; the sources stand in for the packages, as in the project's own tests.
const conditions = ["orcha-source", "node", "default"];

export default defineConfig({
  root: import.meta.dirname,
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: { include: [".samples/**/*.test.ts"] },
});
