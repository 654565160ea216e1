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
const targets = { defined: 6500, generated: 400 };
const actionCount = 8;
const clientActionCount = 2;

const root = fileURLToPath(new URL("..", import.meta.url));
const command = fileURLToPath(new URL("../packages/server/dist/cli/orcha.js", import.meta.url));
const compiler = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));
// Below this folder, so that imports find the packages.
const folder = fileURLToPath(new URL(".generated", import.meta.url));

/** How an app knows its agents: by their definitions, or by what `orcha generate` made of them. */
type Form = "defined" | "generated";

/** What the compiler says about a program. */
interface Checked {
  form: Form;
  agents: number;
  instantiations: number;
  checkSeconds: number;
}

/** How much the compiler has to do for each agent of an app. */
export function typesPart({ agentCounts }: Effort): Promise<Omit<Part, "seconds">> {
  try {
    const defined = [0, ...agentCounts].map((agents) => check("defined", agents));
    const generated = [0, ...agentCounts].map((agents) => check("generated", agents));
    const results = [...resultsOf(defined), ...resultsOf(generated)];
    const times = [...timesOf(defined), ...timesOf(generated)];
    const title = `Types: an agent has ${actionCount} actions and ${clientActionCount} client actions, and one history that is narrowed`;
    const notes = layOut(["agents", "", "check, one thread", "an agent"], times);
    return Promise.resolve({ name: "types", title, sizes: "agents", values: "each", notes, results });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function resultsOf([none, ...all]: readonly Checked[]): Result[] {
  if (!none) return [];
  const measure = none.form === "defined" ? "instantiations" : "generated: instantiations";
  return [
    ...all.map((some) => resultOf(measure, none, some)),
    // What one more costs where there are others, which have paid for what all share.
    ...all.slice(1).map((more, index) => resultOf(none.form === "defined" ? "… of one more" : "generated: … of one more", all[index] ?? none, more)),
  ];
}

function timesOf(all: readonly Checked[]): string[][] {
  const least = all[0]?.checkSeconds ?? 0;
  return all.map(({ form, agents, checkSeconds }) => [
    agents.toLocaleString("en"),
    form,
    `${(checkSeconds * 1000).toFixed(0)} ms`,
    agents === 0 ? "-" : `${(((checkSeconds - least) * 1000) / agents).toFixed(2)} ms`,
  ]);
}

function resultOf(measure: string, few: Checked, many: Checked): Result {
  const [base, measured] = [few.instantiations, many.instantiations];
  const value = (measured - base) / (many.agents - few.agents);
  const against = few.agents === 0 ? "no agents" : `with ${few.agents}`;
  return { measure, size: many.agents, against, unit: "types", base, measured, value, target: targets[many.form] };
}

function check(form: Form, agents: number): Checked {
  const directory = join(folder, `${form}-${agents}`);
  mkdirSync(directory, { recursive: true });
  const files = writeAgents(agents, actionCount, clientActionCount);
  for (const [name, text] of files) writeFileSync(join(directory, name), text);
  if (form === "generated") {
    rmSync(join(directory, "orcha.ts"));
    execFileSync(process.execPath, [command, "generate", "--out", "orcha.ts"], { cwd: directory });
    // The app has what was generated, and not what it was generated from.
    for (const name of files.keys()) if (name.startsWith("agent")) rmSync(join(directory, name));
  }
  const parameters = ["-p", directory, "--noEmit", "--singleThreaded", "--extendedDiagnostics"];
  const report = execFileSync(process.execPath, [compiler, ...parameters], { cwd: root, encoding: "utf8", timeout: 120_000 });
  return { form, agents, instantiations: numberAfter("Instantiations", report), checkSeconds: numberAfter("Check time", report) };
}

function numberAfter(label: string, report: string): number {
  const found = new RegExp(`^${label}:\\s+([\\d.,]+)s?$`, "m").exec(report)?.[1];
  if (found === undefined) throw new Error(`the compiler says no ${label}:\n${report}`);
  return Number(found.replaceAll(",", ""));
}
