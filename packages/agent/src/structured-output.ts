import { findJsonFault, formatPath, maxJsonDepth } from "@orcha/contract";
import { faultOf } from "./fault.ts";
import type { OutputFormat } from "./loop-input.ts";
import { gaveUp, untilAborted } from "./waiting.ts";

/** Reads the structured value of an answer, or tells what is wrong with it: of all the JSON in it, with the first. */
export async function readOutput(text: string, output: OutputFormat, signal: AbortSignal): Promise<{ value: unknown } | { fault: string }> {
  let first: { fault: string } | undefined;
  for (const value of jsonIn(text)) {
    const read = await readValue(value, output, signal);
    if ("value" in read) return read;
    first ??= read;
  }
  return first ?? { fault: "it holds no JSON" };
}

async function readValue(found: unknown, output: OutputFormat, signal: AbortSignal): Promise<{ value: unknown } | { fault: string }> {
  try {
    const checked = await untilAborted(output.check(found), signal);
    if (checked === gaveUp) return { fault: "its check was interrupted" };
    if ("fault" in checked) return { fault: faultOf(checked.fault, "its check failed") };
    const fault = findJsonFault(checked.value, maxJsonDepth - 2);
    return fault ? { fault: faultOf(`${formatPath(fault.path) || "it"} ${fault.reason}`, "it is no JSON") } : checked;
  } catch (error) {
    return { fault: faultOf(error, "its check failed") };
  }
}

/** The JSON of an answer: the whole text, what is in fenced blocks, and each balanced object or array. */
function* jsonIn(text: string): Generator {
  for (const candidate of candidates(text)) {
    try {
      yield JSON.parse(candidate);
    } catch {
      // The next candidate may do.
    }
  }
}

function* candidates(text: string): Generator<string> {
  yield text;
  for (const [, fenced = ""] of text.matchAll(/```[^\n`]*\n([\s\S]*?)```/g)) yield fenced;
  let [from, tries] = [0, 0];
  for (const { index } of text.matchAll(/[{[]/g)) {
    if (index < from) continue;
    if ((tries += 1) > maxTries) return;
    const end = endOf(text, index);
    if (end === undefined) continue;
    yield text.slice(index, end);
    from = end;
  }
}

/** How many brackets of an answer are tried: each one that nobody closes is looked for to the end. */
const maxTries = 20;

/** Where the object or array ends that starts there; brackets in strings don't count. */
function endOf(text: string, start: number): number | undefined {
  let depth = 0;
  let isString = false;
  for (let index = start; index < text.length; index += 1) {
    const character = text[index];
    if (isString) {
      if (character === "\\") index += 1;
      else if (character === '"') isString = false;
      continue;
    }
    if (character === '"') isString = true;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return undefined;
}
