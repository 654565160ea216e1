import type { PendingClientAction, ToolResult } from "@orcha/client";
import { decisionField, exampleOf } from "./answer-shape.ts";
import type { ClientActionDescription } from "./connect.ts";
import { argumentsText } from "./item-text.ts";
import type { LineReader } from "./line-reader.ts";
import type { Terminal } from "./terminal.ts";
import { plain } from "./text.ts";

/** How a person answers a client action: yes or no where that is all, else JSON. Nothing where they leave it open. */
export async function askClientAction(
  { name, callId, arguments: given }: PendingClientAction,
  { description, output: schema }: ClientActionDescription,
  { terminal, lines, signal }: { terminal: Terminal; lines: LineReader; signal: AbortSignal },
): Promise<ToolResult | undefined> {
  const field = decisionField(schema);
  const what = description === undefined ? "" : terminal.style("dim", ` ${plain(description)}`);
  await terminal.write(`${terminal.style("yellow", `? ${plain(name)}`)} ${argumentsText(given)}${what}\n`);
  const way = field === undefined ? `JSON such as ${JSON.stringify(exampleOf(schema))}` : `y or n (${plain(field)})`;
  const prompt = `  ${way}, or deny and a reason; empty leaves it open: `;
  for (;;) {
    const line = (await lines.read(prompt, signal, { isFresh: true }))?.trim();
    if (line === undefined || line === "") return undefined;
    const read = readAnswer(line, field);
    if (typeof read !== "string") return { callId, ...read };
    await terminal.write(`  ${read}\n`);
  }
}

type Answer = { output: unknown } | { deny: true; reason?: string };

/** Reads a line; a text says what is wrong with it. */
function readAnswer(line: string, field: string | undefined): Answer | string {
  const denied = /^deny\b\s*(.*)$/i.exec(line);
  if (denied) return { deny: true, ...(denied[1] ? { reason: denied[1] } : {}) };
  if (field !== undefined) {
    if (/^y(es)?$/i.test(line)) return { output: { [field]: true } };
    if (/^no?$/i.test(line)) return { output: { [field]: false } };
  }
  try {
    return { output: JSON.parse(line) };
  } catch (error) {
    if (field !== undefined) return "Type y, n, or deny and a reason.";
    return `That is no JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}
