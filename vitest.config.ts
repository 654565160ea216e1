import { defineConfig } from "vitest/config";

// Tests run on the sources: no build stands between an edit and its test. Other packages have a condition "source" too,
// and theirs is not ours to run.
const conditions = ["orcha-source", "node", "default"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["test/**/*.test.ts", "examples/*/test/**/*.test.tsx"],
    globalSetup: ["test/postgres.ts"],
    restoreMocks: true,
    testTimeout: 60_000,
    // Many tests wait for clocks and other processes: with one worker less than cores, the machine would mostly be idle.
    maxWorkers: 2,
  },
});
