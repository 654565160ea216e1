import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureAppends } from "./appends.ts";
import { closeBed, makeBed, reopenBed, type Bed } from "./bed.ts";
import { fullEffort, quickEffort } from "./effort.ts";
import { footprintOf } from "./footprint.ts";
import { measurePages } from "./pages.ts";
import { machineOf, textOf, type Report } from "./report.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean" }, json: { type: "boolean" } } });
const effort = values.quick ? quickEffort : fullEffort;
const directory = mkdtempSync(join(tmpdir(), "orcha-bench-"));
try {
  const report = await run();
  console.log(values.json ? JSON.stringify(report, undefined, 2) : textOf(report));
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function run(): Promise<Report> {
  const start = performance.now();
  let beds: Bed[] = [];
  for (const items of effort.lengths) beds.push(await makeBed(directory, items));
  const [, middle] = beds;
  if (!middle) throw new RangeError("the footprint is taken from the second length");
  const footprint = footprintOf(middle);

  const results = await measurePages(beds, effort);
  results.push(...(await measureAppends(beds, effort, "NORMAL")));
  beds = await Promise.all(beds.map((bed) => reopenBed(bed, "FULL")));
  results.push(...(await measureAppends(beds, effort, "FULL")));
  for (const bed of beds) await closeBed(bed);

  return { machine: machineOf(), footprint, results, seconds: (performance.now() - start) / 1000 };
}
