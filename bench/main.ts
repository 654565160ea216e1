import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openCluster, type Cluster } from "./cluster.ts";
import { diskPart } from "./disk-part.ts";
import { fullEffort, quickEffort } from "./effort.ts";
import { listsPart } from "./lists-part.ts";
import { memoryPart } from "./memory-part.ts";
import { partNames, type Part, type PartName } from "./part.ts";
import { postgresPart } from "./postgres-part.ts";
import { machineOf, textOf, type Report } from "./report.ts";
import { sqlitePart } from "./sqlite-part.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean" }, json: { type: "boolean" }, only: { type: "string", multiple: true } },
});
const effort = values.quick ? quickEffort : fullEffort;
const wanted = partNames.filter((name) => values.only === undefined || values.only.includes(name));
if (wanted.length === 0) throw new RangeError(`--only takes ${partNames.join(", ")}`);
const directory = mkdtempSync(join(tmpdir(), "orcha-bench-"));
let opened: Cluster | undefined;
try {
  const report = await run();
  console.log(values.json ? JSON.stringify(report, undefined, 2) : textOf(report));
} finally {
  await opened?.remove();
  rmSync(directory, { recursive: true, force: true });
}

async function run(): Promise<Report> {
  const start = performance.now();
  const parts: Part[] = [];
  for (const name of wanted) {
    const startOfPart = performance.now();
    const part = await runPart(name);
    parts.push({ ...part, seconds: (performance.now() - startOfPart) / 1000 });
  }
  return { machine: machineOf(), parts, seconds: (performance.now() - start) / 1000 };
}

/** Only SQLite's part needs no server. */
async function runPart(name: PartName): Promise<Omit<Part, "seconds">> {
  if (name === "sqlite") return sqlitePart(directory, effort);
  const cluster = (opened ??= await openCluster());
  if (name === "lists") return listsPart(directory, cluster, effort);
  if (name === "postgres") return postgresPart(cluster, effort);
  return name === "disk" ? diskPart(directory, cluster) : memoryPart(directory, cluster, effort);
}
