/** Writes an app of so many agents: each in a file of its own, whose name begins with it, and one call of each whose answer is narrowed. */
export function writeAgents(agents: number, actions: number, clientActions: number): Map<string, string> {
  const numbers = Array.from({ length: agents }, (_, index) => index);
  const files = new Map<string, string>();
  files.set("tsconfig.json", JSON.stringify(settings));
  for (const number of numbers) {
    files.set(`agent-${number}.ts`, definitionOf(number, actions, clientActions));
    files.set(`use-${number}.ts`, useOf(number));
  }
  files.set("agents.ts", listOf(numbers));
  files.set("orcha.ts", connection);
  files.set("orcha.config.mjs", configuration);
  return files;
}

// As an app has it: the packages' declarations, not their sources.
const settings = {
  compilerOptions: {
    target: "es2023",
    lib: ["es2024", "dom"],
    module: "nodenext",
    moduleResolution: "nodenext",
    types: [],
    strict: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    noEmit: true,
  },
  include: ["*.ts"],
};

const connection = `import { createOrcha } from "@orcha/client";
import type { agents } from "./agents.ts";

export const orcha = createOrcha<typeof agents>({ baseUrl: "http://localhost:4310" });
`;

// No part of the app: what a client is generated from.
const configuration = `import { agents } from "./agents.ts";

export default { agents };
`;

function listOf(numbers: readonly number[]): string {
  return `import { defineAgents } from "@orcha/contract";
${numbers.map((number) => `import { agent${number} } from "./agent-${number}.ts";`).join("\n")}

export const agents = defineAgents({ ${numbers.map((number) => `agent${number}`).join(", ")} });
`;
}

/** Every agent has schemas of its own, as no two of an app are the same. */
function definitionOf(number: number, actions: number, clientActions: number): string {
  return `import { defineAgent } from "@orcha/contract";
import * as v from "valibot";

export const agent${number} = defineAgent({
  actions: {
${linesOf("lookup", number, actions)}
  },
  clientActions: {
${linesOf("ask", number, clientActions)}
  },
});
`;
}

function linesOf(verb: string, agent: number, count: number): string {
  const names = Array.from({ length: count }, (_, index) => `${verb}_${agent}_${index}`);
  return names.map((name) => `    ${name}: { input: ${input(name)}, output: ${output(name)} },`).join("\n");
}

function input(name: string): string {
  return `v.object({ id_${name}: v.string(), amount: v.number(), note: v.optional(v.string()) })`;
}

function output(name: string): string {
  return `v.object({ ok_${name}: v.boolean(), total: v.number() })`;
}

function useOf(number: number): string {
  return `import { orcha } from "./orcha.ts";

export async function read${number}(): Promise<string | undefined> {
  const history = await orcha.agent${number}.history("ses_1", { page: 1, pageSize: 25 });
  for (const item of history.items) {
    if (item.type === "action" && item.name === "lookup_${number}_0") return item.arguments?.id_lookup_${number}_0;
    if (item.type === "client_action" && item.name === "ask_${number}_0") return item.arguments?.id_ask_${number}_0;
  }
  return undefined;
}
`;
}
