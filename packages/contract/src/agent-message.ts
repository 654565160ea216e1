import * as v from "valibot";

/** A tool call of an assistant turn; `arguments` is the exact JSON text the model wrote. */
export interface AgentToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** One turn as a model sees it (the seed's Chat History Restore format). */
export interface AgentMessage {
  role: "system" | "user" | "assistant" | "tool";
  /** Null on an assistant turn that only called tools. */
  content: string | null;
  tool_calls?: AgentToolCall[];
  /** On a tool turn: the id of the call that it answers. */
  tool_call_id?: string;
  /** On a tool turn: the tool's name. */
  name?: string;
}

export const agentMessageSchema: v.GenericSchema<AgentMessage> = v.object({
  role: v.picklist(["system", "user", "assistant", "tool"]),
  content: v.nullable(v.string()),
  tool_calls: v.optional(
    v.array(
      v.object({
        id: v.string(),
        type: v.literal("function"),
        function: v.object({ name: v.string(), arguments: v.string() }),
      }),
    ),
  ),
  tool_call_id: v.optional(v.string()),
  name: v.optional(v.string()),
});

/** What a check of a history found: an error refuses the history, a warning lets it in. */
export interface Finding {
  severity: "error" | "warning" | "info";
  code: FindingCode;
  /** The message's index in the array as it was given. */
  index: number;
  /** The place inside the array, such as `[2].tool_calls[0].id`. */
  path: string;
  message: string;
  /** What was done, or could be done, about it. */
  fix?: string;
}

/** Everything that a check can find. */
export type FindingCode =
  | "not_an_array"
  | "message_not_object"
  | "unknown_role"
  | "unexpected_system_message"
  | "orphaned_tool_call_id"
  | "content_invalid"
  | "tool_calls_invalid"
  | "arguments_not_string"
  | "name_invalid"
  | "value_not_json"
  | "system_message_stripped"
  | "tool_name_backfilled"
  | "tool_result_missing"
  | "tool_call_id_reused"
  | "duplicate_tool_result"
  | "displaced_tool_result"
  | "empty_assistant_turn"
  | "empty_tool_calls"
  | "arguments_invalid_json"
  | "arguments_not_exact"
  | "lone_surrogate"
  | "field_ignored";

export const findingSchema = v.looseObject({
  severity: v.picklist(["error", "warning", "info"]),
  code: v.string(),
  index: v.number(),
  path: v.string(),
  message: v.string(),
  fix: v.optional(v.string()),
});
