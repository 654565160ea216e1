import { validateHistory, type AgentMessage, type CheckedHistory } from "@orcha/contract";
import { FormatError } from "./error.ts";
import { findSyntaxFault } from "./json-text.ts";
import { readLines, type Source } from "./lines.ts";

/** The longest message file that is read, in characters: it is one JSON value, so it has to be held whole. */
export const maxMessagesLength = 67_108_864;

/**
 * Reads a JSON array of `AgentMessage`, by the rules of `validateHistory`. Throws `FormatError` where it is no JSON, and
 * `HistoryError` where it is no history.
 */
export async function readMessages(source: Source): Promise<CheckedHistory> {
  const lines: string[] = [];
  let length = 0;
  for await (const { text, number } of readLines(source)) {
    if (text === undefined) throw new FormatError(number, "is not UTF-8");
    length += text.length + 1;
    if (length > maxMessagesLength) throw new FormatError(number, `a file of messages has at most ${maxMessagesLength / 1_048_576} MiB`);
    lines.push(text);
  }
  return validateHistory(parse(lines.join("\n")));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const place = findSyntaxFault(text) ?? text.length;
    throw new FormatError(text.slice(0, place).split("\n").length, place === text.length ? "the JSON ends too early" : "is not JSON");
  }
}

/** Writes messages as a JSON array, one on a line. */
export async function* writeMessages(messages: Iterable<AgentMessage> | AsyncIterable<AgentMessage>): AsyncGenerator<string> {
  let before = "[\n";
  for await (const message of messages) {
    yield `${before}  ${JSON.stringify(message)}`;
    before = ",\n";
  }
  yield before === "[\n" ? "[]\n" : "\n]\n";
}
