import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Effort } from "./effort.ts";
import type { Part } from "./part.ts";
import type { Result } from "./result.ts";
import { layOut } from "./table.ts";
import { writeAgents } from "./types-source.ts";

/** The most instantiations of types that an agent may cost, however many there are. */
const target = 6500;
const actionCount = 8;
const clientActionCount = 2;

const root = fileURLToPath(new URL("..", import.meta.url));
const compiler = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));
// Below this folder, so that imports find the packages.
const folder = fileURLToPath(new URL(".generated", import.meta.url));

/** What the compiler says about a program. */
interface Checked {
  agents: number;
  instantiations: number;
  checkSeconds: number;
}

/** How much the compiler has to do for each agent of an app. */
export function typesPart({ agentCounts }: Effort): Promise<Omit<Part, "seconds">> {
  try {
    const none = check(0);
    const all = agentCounts.map(check);
    const results = [
      ...all.map((some) => resultOf("instantiations", none, some)),
      // What one more costs where there are others, which have paid for what all share.
      ...all.slice(1).map((more, index) => resultOf("… of one more", all[index] ?? none, more)),
    ];
    const times = [none, ...all].map(({ agents, checkSeconds }) => [
      agents.toLocaleString("en"),
      `${(checkSeconds * 1000).toFixed(0)} ms`,
      agents === 0 ? "-" : `${(((checkSeconds - none.checkSeconds) * 1000) / agents).toFixed(2)} ms`,
    ]);
    const title = `Types: an agent has ${actionCount} actions and ${clientActionCount} client actions, and one history that is narrowed`;
    const notes = layOut(["agents", "check, one thread", "an agent"], times);
    return Promise.resolve({ name: "types", title, sizes: "agents", values: "each", notes, results });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function resultOf(measure: string, few: Checked, many: Checked): Result {
  const [base, measured] = [few.instantiations, many.instantiations];
  const value = (measured - base) / (many.agents - few.agents);
  const against = few.agents === 0 ? "no agents" : `with ${few.agents}`;
  return { measure, size: many.agents, against, unit: "types", base, measured, value, target };
}

function check(agents: number): Checked {
  const directory = join(folder, `agents-${agents}`);
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of writeAgents(agents, actionCount, clientActionCount)) writeFileSync(join(directory, name), text);
  const parameters = ["-p", directory, "--noEmit", "--singleThreaded", "--extendedDiagnostics"];
  const report = execFileSync(process.execPath, [compiler, ...parameters], { cwd: root, encoding: "utf8", timeout: 120_000 });
  return { agents, instantiations: numberAfter("Instantiations", report), checkSeconds: numberAfter("Check time", report) };
}

function numberAfter(label: string, report: string): number {
  const found = new RegExp(`^${label}:\\s+([\\d.,]+)s?$`, "m").exec(report)?.[1];
  if (found === undefined) throw new Error(`the compiler says no ${label}:\n${report}`);
  return Number(found.replaceAll(",", ""));
}
