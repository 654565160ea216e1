import { defineConfig } from "vitest/config";

// Tests run on the sources: no build stands between an edit and its test.
const conditions = ["source", "node", "import", "default"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["test/**/*.test.ts"],
    restoreMocks: true,
    testTimeout: 20_000,
  },
});
