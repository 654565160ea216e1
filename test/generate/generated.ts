import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineAgent, type Agents, type Schema } from "@orcha/contract";
import { memoryStore } from "@orcha/server";
import { serve } from "@orcha/server/node";
import { expect } from "vitest";
import { orcha } from "../cli/orcha.ts";

/** Serves agents, and has the real program write a client for them into `orcha.gen.ts` of the folder. */
export async function generate(agents: Agents, cwd: string): Promise<string> {
  const server = await serve({ agents, store: memoryStore(), port: 0 });
  try {
    const { code, stderr } = await orcha(["generate", "--url", server.url, "--out", "orcha.gen.ts", "--base-url", "http://localhost:4310"], { cwd });
    expect([code, stderr]).toEqual([0, ""]);
  } finally {
    await server.close();
  }
  return readFileSync(join(cwd, "orcha.gen.ts"), "utf8");
}

/** A schema of another library, which describes itself as it is told to. */
export function schemaOf(jsonSchema: unknown): Schema {
  const converter = (): unknown => jsonSchema;
  const standard = { version: 1, vendor: "other", validate: (value: unknown) => ({ value }), jsonSchema: { input: converter, output: converter } } as const;
  return { "~standard": standard };
}

/** An agent with an action for each of the JSON Schemas. */
export function agentOf(schemas: Readonly<Record<string, unknown>>) {
  return defineAgent({ actions: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, { input: schemaOf(schema) }])) });
}
