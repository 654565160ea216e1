import { findJsonFault, formatPath, maxJsonDepth } from "@orcha/contract";
import { faultOf } from "./fault.ts";
import type { OutputFormat } from "./loop-input.ts";
import { gaveUp, untilAborted } from "./waiting.ts";

/** Reads the structured value of an answer, or tells what is wrong with it. */
export async function readOutput(text: string, output: OutputFormat, signal: AbortSignal): Promise<{ value: unknown } | { fault: string }> {
  const found = findJson(text);
  if (!found) return { fault: "it holds no JSON" };
  try {
    const checked = await untilAborted(output.check(found.value), signal);
    if (checked === gaveUp) return { fault: "its check was interrupted" };
    if ("fault" in checked) return { fault: faultOf(checked.fault, "its check failed") };
    const fault = findJsonFault(checked.value, maxJsonDepth - 2);
    return fault ? { fault: faultOf(`${formatPath(fault.path) || "it"} ${fault.reason}`, "it is no JSON") } : checked;
  } catch (error) {
    return { fault: faultOf(error, "its check failed") };
  }
}

/** Finds the JSON of an answer: the whole text, else a fenced block, else the first balanced object or array. */
export function findJson(text: string): { value: unknown } | undefined {
  for (const candidate of candidates(text)) {
    try {
      const value: unknown = JSON.parse(candidate);
      return { value };
    } catch {
      // The next candidate may do.
    }
  }
  return undefined;
}

function* candidates(text: string): Generator<string> {
  yield text;
  for (const [, fenced = ""] of text.matchAll(/```[^\n`]*\n([\s\S]*?)```/g)) yield fenced;
  const balanced = firstBalanced(text);
  if (balanced !== undefined) yield balanced;
}

/** The first object or array from its bracket to the one that closes it; brackets in strings don't count. */
function firstBalanced(text: string): string | undefined {
  const start = text.search(/[{[]/);
  if (start < 0) return undefined;
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
      if (depth === 0) return text.slice(start, index + 1);
    }
  }
  return undefined;
}
