import { isPlainObject } from "@orcha/contract";

type Data = Record<string, unknown>;

/** Writes the content of older logs as today's blocks; nothing where there is nothing to change. */
export function liftMessage(data: Data): Data | undefined {
  const { content, role } = data;
  if (typeof content === "string") {
    if (role !== "tool") return { ...data, content: content === "" ? [] : [{ type: "text", text: content }] };
    const { tool_call_id: callId } = data;
    return typeof callId === "string" ? { ...data, content: [{ callId, output: content }] } : undefined;
  }
  if (!Array.isArray(content)) return undefined;
  const lifted: unknown[] = content.map(liftBlock);
  // That API has results in a turn of the user's.
  if (role === "user" && content.length > 0 && content.every(isResult)) return { ...data, role: "tool", content: lifted };
  return lifted.some((block, index) => block !== content[index]) ? { ...data, content: lifted } : undefined;
}

function isResult(block: unknown): boolean {
  return isPlainObject(block) && block["type"] === "tool_result";
}

/** Blocks in the shape of Anthropic's API, which older logs hold. */
function liftBlock(block: unknown): unknown {
  if (typeof block === "string") return { type: "text", text: block };
  if (!isPlainObject(block)) return block;
  switch (block["type"]) {
    case "tool_use": {
      const { type: _type, id: callId, input, ...rest } = block;
      return { type: "tool_call", callId, arguments: input, ...rest };
    }
    case "tool_result": {
      const { type: _type, tool_use_id: callId, content: output, is_error: isError, ...rest } = block;
      return { callId, output, ...(isError === undefined ? {} : { isError }), ...rest };
    }
    case "thinking": {
      const { type: _type, thinking, signature, ...rest } = block;
      const replay = signature === undefined ? {} : { replay: { providerId: "anthropic", opaqueData: { signature } } };
      return { type: "reasoning", text: thinking, ...replay, ...rest };
    }
    case "redacted_thinking": {
      const { type: _type, data } = block;
      return { type: "reasoning", text: "", replay: { providerId: "anthropic", opaqueData: { redacted: data } } };
    }
    default:
      return block;
  }
}

/** A usage counts only where all of its fields are there. */
export function withoutPartialUsage(data: Data): Data | undefined {
  const { usage } = data;
  if (usage === undefined) return undefined;
  const fields = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"];
  const isWhole =
    isPlainObject(usage) &&
    fields.every((field) => typeof usage[field] === "number") &&
    (usage["reasoningTokens"] === null || typeof usage["reasoningTokens"] === "number");
  if (isWhole) return undefined;
  const { usage: _usage, ...rest } = data;
  return rest;
}

/** Fills what every session has and the first versions left out. */
export function fillCreated(data: Data): Data | undefined {
  const filled: Data = { schemaVersion: 1, status: "active", metadata: {}, variables: {}, ...data };
  return Object.keys(filled).length === Object.keys(data).length ? undefined : filled;
}
