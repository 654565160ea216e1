import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { eventsFromMessages, Transcript, validateHistory, type AgentMessage, type SessionEvent, type Turn } from "@orcha/contract";

const corpus = join(import.meta.dirname, "../corpus");

/** Reads the file of a corpus case, as JSON. */
export function corpusInput<T>(id: string, file = "input.json"): T {
  const folder = readdirSync(corpus).find((name) => name.startsWith(id)) ?? "";
  const value: T = JSON.parse(readFileSync(join(corpus, folder, file), "utf8"));
  return value;
}

/** The turns of a history, as a log of it has them. */
export function turnsOf(messages: AgentMessage[]): readonly Turn[] {
  const events = eventsFromMessages(validateHistory(messages).messages, new Map());
  return turnsOfLog(events.map((event, index) => ({ sequence: index + 1, v: 1, timestamp: "2026-01-01T00:00:00.000Z", ...event })));
}

export function turnsOfLog(events: Iterable<SessionEvent>): readonly Turn[] {
  const transcript = new Transcript();
  for (const event of events) transcript.add(event);
  return transcript.turns();
}

/** Every string of a value, keys included. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || value instanceof URL) return [];
  return Object.entries(value).flatMap(([key, child]) => [key, ...stringsIn(child)]);
}

/** What a prompt says of calls: each turn's ids, and those of the results behind it. */
export function pairsOf(prompt: LanguageModelV4Prompt): { calls: string[]; results: string[] }[] {
  return prompt.flatMap((message, index) => {
    if (message.role !== "assistant") return [];
    const calls = message.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
    const next = prompt[index + 1];
    const results = next?.role === "tool" ? next.content.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : [])) : [];
    return [{ calls, results }];
  });
}
