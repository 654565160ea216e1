import { join } from "node:path";
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
    // Long enough for a machine that has other things to do; what comes is seen as soon as it comes.
    expect: { poll: { timeout: 10_000 } },
    // Many tests wait for clocks, databases and other processes: on two cores, a third worker has what two of them leave.
    maxWorkers: 3,
    // Tests start the same programs hundreds of times.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/compile") },
  },
});
