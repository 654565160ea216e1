import { invalidInput, isPlainObject, maxDataUriLength, messageContentSchema, OrchaError, type Agent, type MessageContent, type Path } from "@orcha/contract";
import * as v from "valibot";
import { checkText, issuePath, issueReason } from "../intake.ts";

const maxBlocks = 100;

/** Reads a user's message: a text that isn't blank, one content block, or a list of them. Throws `invalid_input`. */
export function readContent(content: unknown, path: Path = ["content"]): MessageContent[] {
  if (typeof content === "string") {
    if (content.trim() === "") throw invalidInput(path, "must not be blank");
    checkText(content, path);
    return [{ type: "text", text: content }];
  }
  if (isPlainObject(content)) return [readBlock(content, path)];
  if (!Array.isArray(content)) throw invalidInput(path, "must be a text, a content block, or a list of content blocks");
  if (content.length === 0) throw invalidInput(path, "must hold at least one content block");
  if (content.length > maxBlocks) throw invalidInput(path, `holds ${content.length} blocks; at most ${maxBlocks} fit`);
  return content.map((block: unknown, index) => readBlock(block, [...path, index]));
}

function readBlock(block: unknown, path: Path): MessageContent {
  const result = v.safeParse(messageContentSchema, block, { abortEarly: true });
  const issue = result.issues?.[0];
  if (issue) throw invalidInput([...path, ...issuePath(issue.path)], issueReason(issue));
  const read = result.output as MessageContent;
  if (read.type === "text") {
    if (read.text.trim() === "") throw invalidInput([...path, "text"], "must not be blank");
    checkText(read.text, [...path, "text"]);
  }
  if ("fileUri" in read && read.fileUri.length > maxDataUriLength) {
    throw new OrchaError("payload_too_large", `a data URI takes at most ${maxDataUriLength} characters`);
  }
  return read;
}

/** Reads which client actions the caller can answer: by default all of the agent's. Throws `invalid_input`. */
export function readCapabilities(agent: Agent, capabilities: unknown): string[] {
  const known = Object.keys(agent.definition.clientActions ?? {});
  if (capabilities === undefined) return known;
  if (!Array.isArray(capabilities)) throw invalidInput(["clientCapabilities"], "must be a list of client actions' names");
  for (const [index, name] of capabilities.entries()) {
    if (typeof name === "string" && known.includes(name)) continue;
    throw invalidInput(["clientCapabilities", index], `must be one of ${known.join(", ") || "no client action: the agent has none"}`);
  }
  return known.filter((name) => capabilities.includes(name));
}
