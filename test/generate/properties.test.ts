import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineAgents } from "@orcha/contract";
import { Ajv2020 } from "ajv/dist/2020.js";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { appFolders, compile, newest } from "./compilers.ts";
import { agentOf, generate } from "./generated.ts";
import { samples, type Sample } from "./shapes.ts";

const newFolder = appFolders();

test("a generated type compiles, and takes whatever fits its schema", { timeout: 120_000 }, async () => {
  let fitting = 0;
  await fc.assert(
    // Many at once: a compiler's start is what takes time.
    fc.asyncProperty(fc.array(samples(), { minLength: 200, maxLength: 200 }), async (batch) => {
      const folder = newFolder();
      await generate(defineAgents({ batch: agentOf(Object.fromEntries(batch.map(({ schema }, index) => [`case_${index}`, schema]))) }), folder);
      const uses = batch.flatMap((sample, index) =>
        // JSON is also how TypeScript writes the type of just that value.
        fittingOf(sample).map((value, place) => `export type T${index}_${place} = Fits<Cases["case_${index}"]["arguments"], ${JSON.stringify(value)}>;`),
      );
      fitting += uses.length;
      writeFileSync(join(folder, "use.ts"), `import type { Batch } from "./orcha.gen.ts";\ntype Cases = Batch["actions"];\ntype Fits<T, V extends T> = V;\n${uses.join("\n")}\n`);
      expect(await compile(folder, newest)).toBe("");
    }),
    { numRuns: 2, endOnFailure: true },
  );
  expect(fitting).toBeGreaterThan(400);
});

/** The values that fit by the word of a validator; a few don't, such as those of two options out of one. */
function fittingOf({ schema, values }: Sample): unknown[] {
  const fits = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  return values.filter((value) => fits(value));
}
