import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { clientPart } from "./client-part.ts";
import { openCluster, type Cluster } from "./cluster.ts";
import { diskPart } from "./disk-part.ts";
import { fullEffort, quickEffort } from "./effort.ts";
import { httpPart } from "./http-part.ts";
import { listsPart } from "./lists-part.ts";
import { memoryPart } from "./memory-part.ts";
import { partNames, type Part, type PartName } from "./part.ts";
import { postgresPart } from "./postgres-part.ts";
import { machineOf, textOf, type Report } from "./report.ts";
import { runsPart } from "./runs-part.ts";
import { sqlitePart } from "./sqlite-part.ts";
import { startPart } from "./start-part.ts";
import { tailsPart } from "./tails-part.ts";
import { typesPart } from "./types-part.ts";

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

/** A Postgres is started by the first part that needs one. */
async function runPart(name: PartName): Promise<Omit<Part, "seconds">> {
  switch (name) {
    case "sqlite":
      return sqlitePart(directory, effort);
    case "lists":
      return listsPart(directory, await postgres(), effort);
    case "postgres":
      return postgresPart(await postgres(), effort);
    case "disk":
      return diskPart(directory, await postgres());
    case "memory":
      return memoryPart(directory, await postgres(), effort);
    case "http":
      return httpPart(directory, effort);
    case "runs":
      return runsPart(directory, effort);
    case "tails":
      return tailsPart(directory, effort);
    case "start":
      return startPart(directory, effort);
    case "client":
      return clientPart();
    case "types":
      return typesPart(effort);
  }
}

async function postgres(): Promise<Cluster> {
  return (opened ??= await openCluster());
}
