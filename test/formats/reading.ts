import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionEvent } from "@orcha/contract";
import { FormatError, FormatFindings, readBundle, readSessionLog, type BundlePart, type FormatFinding, type Source } from "@orcha/formats";

/** What became of reading a file: all of it and what was found, or the refusal. */
export type Outcome<T> =
  | { read: T[]; findings: readonly FormatFinding[]; refused?: undefined }
  | { read: T[]; refused: FormatError; findings?: undefined };

export function readLog(source: Source | string | Uint8Array): Promise<Outcome<SessionEvent>> {
  return outcomeOf((findings) => readSessionLog(pieces(source), findings));
}

export function readParts(source: Source | string | Uint8Array): Promise<Outcome<BundlePart>> {
  return outcomeOf((findings) => readBundle(pieces(source), findings));
}

/** Where a file should have been refused; throws where it wasn't. */
export async function refusalOf(outcome: Promise<Outcome<unknown>>): Promise<string> {
  const { refused } = await outcome;
  if (!refused) throw new Error("the file was accepted");
  return refused.message;
}

export async function textOf(lines: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const line of lines) text += line;
  return text;
}

export function corpusFile(folder: string, file = "input.jsonl"): Uint8Array {
  return readFileSync(join(import.meta.dirname, "../corpus", folder, file));
}

function pieces(source: Source | string | Uint8Array): Source {
  return typeof source === "string" || source instanceof Uint8Array ? [source] : source;
}

async function outcomeOf<T>(start: (findings: FormatFindings) => AsyncIterable<T>): Promise<Outcome<T>> {
  const findings = new FormatFindings();
  const read: T[] = [];
  try {
    for await (const part of start(findings)) read.push(part);
  } catch (refused) {
    if (refused instanceof FormatError) return { read, refused };
    throw refused;
  }
  return { read, findings: findings.list() };
}
