import type { AgentMessage, AgentToolCall, Finding, FindingCode } from "./agent-message.ts";
import { cutText } from "./cut-text.ts";
import { findJsonFault, formatPath, isPlainObject, type Path } from "./json.ts";
import { resultMissing } from "./projection.ts";
import { HistoryError, parseArguments, print, roles } from "./restore.ts";

/** How `repairHistory` decides where more than one repair is right. */
export interface RepairPolicy {
  /** Results that no earlier call asked for. Default and only choice: "drop". */
  orphanedResults?: "drop";
  /**
   * Calls without a result. "answer" (default): one error result right behind the turn's other results.
   * "drop_call": the call goes, and its turn with it where nothing is left. "keep": a provider will refuse it.
   */
  missingResults?: "answer" | "drop_call" | "keep";
  /** Which of several results of one call stays. Default "first". */
  duplicateResults?: "first" | "last";
  /** Results that came after the conversation had gone on. "move" (default): right behind their turn. */
  displacedResults?: "move" | "keep";
  /** Assistant turns with neither text nor calls. Default "drop". */
  emptyTurns?: "drop" | "keep";
  /** Arguments whose text is not a JSON object. "empty" (default): `{}`; the report tells what was dropped. */
  invalidArguments?: "empty" | "keep";
  /** System messages behind the first place. Default and only choice: "drop". */
  systemMessages?: "drop";
  /** Messages of any role but the four. Default and only choice: "drop". */
  unknownRoles?: "drop";
}

/** A repaired history, and every change that it took; each finding's `fix` says what was done. */
export interface RepairedHistory {
  messages: AgentMessage[];
  report: Finding[];
}

/**
 * Makes a history out of whatever an array holds, such that `validateHistory` accepts it and, with the default policy,
 * a provider does too. Pure: a clean history comes back as an equal copy with an empty report, and so does a repaired
 * one. A leading system message stays. A message whose fields JSON can't carry is dropped.
 * Throws `HistoryError` only where the value is not an array.
 */
export function repairHistory(messages: unknown, policy: RepairPolicy = {}): RepairedHistory {
  const report: Finding[] = [];
  const note: Note = (severity, code, index, path, message, fix) => {
    report.push({ severity, code, index, path: formatPath([index, ...path]), message, fix });
  };
  if (!Array.isArray(messages)) {
    throw new HistoryError({ severity: "error", code: "not_an_array", index: 0, path: "", message: "expected an array of messages" });
  }
  const turns = pairResults(readTurns(messages, policy, note), policy, note);
  for (const turn of turns) settleTurn(turn, policy, note);
  const repaired = turns.flatMap((turn) => [turn, ...turn.results]).filter((turn) => !turn.dropped);
  return { messages: repaired.map((turn) => turn.message), report: report.toSorted((a, b) => a.index - b.index) };
}

type Note = (severity: Finding["severity"], code: FindingCode, index: number, path: Path, message: string, fix: string) => void;

type Raw = Record<string, unknown>;

/** A message on its way through the repair. */
interface Turn {
  index: number;
  message: AgentMessage;
  calls: Call[];
  /** What stands right behind the turn. */
  results: Turn[];
  dropped: boolean;
}

interface Call {
  call: AgentToolCall;
  /** Where the call stood in the given `tool_calls`. */
  place: number;
  result?: Turn;
}

/** First pass: each message by itself, its shape put right or dropped. */
function readTurns(messages: readonly unknown[], policy: RepairPolicy, note: Note): Turn[] {
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    if (typeof message !== "object" || message === null || Array.isArray(message)) {
      note("error", "message_not_object", index, [], `message at index ${index} is not an object`, "dropped the message");
      continue;
    }
    const raw = message as Raw;
    if (isRole(raw["role"])) {
      const turn = readTurn(raw, raw["role"], index, policy, note);
      if (turn) turns.push(turn);
    } else {
      const found = `message at index ${index} has unknown role "${print(raw["role"])}"`;
      note("error", "unknown_role", index, ["role"], found, "dropped the message");
    }
  }
  return turns;
}

function isRole(role: unknown): role is AgentMessage["role"] {
  return roles.includes(role);
}

function readTurn(raw: Raw, role: AgentMessage["role"], index: number, policy: RepairPolicy, note: Note): Turn | undefined {
  const fields = ["role", "content", "name", ...(role === "assistant" ? ["tool_calls"] : role === "tool" ? ["tool_call_id"] : [])];
  const unsafe = findJsonFault(Object.fromEntries(fields.map((field) => [field, raw[field]])));
  if (unsafe) {
    const found = `message at index ${index}: ${formatPath(unsafe.path)} ${unsafe.reason}`;
    note("error", "value_not_json", index, unsafe.path, found, "dropped the message");
    return undefined;
  }
  const id = raw["tool_call_id"];
  if (role === "tool" && (typeof id !== "string" || id === "")) {
    note("error", "orphaned_tool_call_id", index, ["tool_call_id"], `orphaned tool_call_id "${print(id)}"`, "dropped the result");
    return undefined;
  }
  const message: AgentMessage = { role, content: readContent(raw["content"], role, index, note) };
  const calls = role === "assistant" ? readCalls(raw["tool_calls"], index, policy, note) : [];
  if (calls.length > 0) message.tool_calls = calls.map(({ call }) => call);
  if (role === "tool" && typeof id === "string") message.tool_call_id = wellFormed(id, index, ["tool_call_id"], note);
  const name = raw["name"];
  if (typeof name === "string" && name !== "") message.name = wellFormed(name, index, ["name"], note);
  else if (name !== undefined && (role !== "tool" || name !== "")) {
    note("error", "name_invalid", index, ["name"], `message at index ${index} has a name that is not a text`, "left it out");
  }
  const ignored = Object.keys(raw).filter((field) => !fields.includes(field) && raw[field] !== undefined);
  if (ignored.length > 0) {
    const found = `message at index ${index} has fields that a ${role} turn doesn't: ${ignored.join(", ")}`;
    note("info", "field_ignored", index, [ignored[0] ?? ""], found, "left them out");
  }
  const turn = { index, message, calls, results: [], dropped: false };
  return role === "assistant" && dropEmpty(turn, policy, note) ? undefined : turn;
}

function readContent(content: unknown, role: AgentMessage["role"], index: number, note: Note): string | null {
  if (typeof content === "string") return wellFormed(content, index, ["content"], note);
  if (content === null || content === undefined) {
    const blank = role === "assistant" ? null : "";
    if (content !== blank) {
      const severity = content === null ? "warning" : "error";
      note(severity, "content_invalid", index, ["content"], `message at index ${index} has no content`, `made it ${JSON.stringify(blank)}`);
    }
    return blank;
  }
  const found = `message at index ${index} has content that is neither a string nor null`;
  note("error", "content_invalid", index, ["content"], found, "wrote it as text");
  return wellFormed(textOf(content), index, ["content"], note);
}

/** The text of content in parts; the JSON of anything else. */
function textOf(content: unknown): string {
  const texts = Array.isArray(content) ? content.map((part: unknown) => (isPlainObject(part) ? part["text"] : part)) : [content];
  return texts.length > 0 && texts.every((text) => typeof text === "string") ? texts.join("") : JSON.stringify(content);
}

function readCalls(calls: unknown, index: number, policy: RepairPolicy, note: Note): Call[] {
  if (calls === undefined) return [];
  if (!Array.isArray(calls)) {
    const found = `message at index ${index} has tool_calls that are not an array`;
    note("error", "tool_calls_invalid", index, ["tool_calls"], found, "left them out");
    return [];
  }
  if (calls.length === 0) note("warning", "empty_tool_calls", index, ["tool_calls"], "tool_calls is empty", "left it out");
  return calls.flatMap((raw: unknown, place) => {
    const call = readCall(raw, index, place, policy, note);
    return call ? [{ call, place }] : [];
  });
}

function readCall(raw: unknown, index: number, place: number, policy: RepairPolicy, note: Note): AgentToolCall | undefined {
  const at = ["tool_calls", place];
  const where = `message at index ${index} has tool_calls[${place}]`;
  const { id, type, function: named, ...rest } = isPlainObject(raw) ? raw : {};
  if (typeof id !== "string" || id === "" || id.length > 512) {
    note("error", "tool_calls_invalid", index, [...at, "id"], `${where} without an id of 1 to 512 characters`, "dropped the call");
    return undefined;
  }
  const { name, arguments: given, ...more } = isPlainObject(named) ? named : {};
  if (typeof name !== "string" || name === "" || name.length > 200) {
    const found = `${where} without a function name of 1 to 200 characters`;
    note("error", "tool_calls_invalid", index, [...at, "function"], found, "dropped the call");
    return undefined;
  }
  if (type !== "function") {
    note("error", "tool_calls_invalid", index, [...at, "type"], `${where} whose type is not "function"`, `made it "function"`);
  }
  const ignored = Object.entries({ ...rest, ...more }).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  if (ignored.length > 0) note("info", "field_ignored", index, at, `${where} with more fields: ${ignored.join(", ")}`, "left them out");
  return {
    id: wellFormed(id, index, [...at, "id"], note),
    type: "function",
    function: {
      name: wellFormed(name, index, [...at, "function", "name"], note),
      arguments: readArguments(given, id, index, [...at, "function", "arguments"], policy, note),
    },
  };
}

function readArguments(given: unknown, id: string, index: number, path: Path, policy: RepairPolicy, note: Note): string {
  if (typeof given !== "string") {
    const fix = given === undefined ? "made them {}" : "wrote them as JSON";
    note("error", "arguments_not_string", index, path, `arguments of "${id}" are not a string`, fix);
  }
  const text = typeof given === "string" ? wellFormed(given, index, path, note) : JSON.stringify(given ?? {});
  const blank = text.trim() === "";
  if (policy.invalidArguments === "keep" || (!blank && parseArguments(text))) return text;
  if (blank) note("info", "arguments_invalid_json", index, path, `arguments of "${id}" are blank`, "made them {}");
  else {
    const fix = `made them {} and dropped ${JSON.stringify(cutText(text, 200))}`;
    note("warning", "arguments_invalid_json", index, path, `arguments of "${id}" are not a JSON object`, fix);
  }
  return "{}";
}

function wellFormed(text: string, index: number, path: Path, note: Note): string {
  if (text.isWellFormed()) return text;
  const found = `message at index ${index} has half a character in ${formatPath(path)}`;
  note("warning", "lone_surrogate", index, path, found, "put U+FFFD in its place");
  return text.toWellFormed();
}

function dropEmpty(turn: Turn, policy: RepairPolicy, note: Note): boolean {
  const { index, message } = turn;
  if (message.content || message.tool_calls || policy.emptyTurns === "keep") return false;
  const found = `message at index ${index} is an assistant turn with neither text nor calls`;
  note("warning", "empty_assistant_turn", index, [], found, "dropped the message");
  return true;
}

/** Second pass: each result to the nearest earlier open call of its id; what is left of the order. */
function pairResults(turns: readonly Turn[], policy: RepairPolicy, note: Note): Turn[] {
  const order: Turn[] = [];
  const byId = new Map<string, { open: { turn: Turn; call: Call }[]; newest: { turn: Turn; call: Call } }>();

  for (const turn of turns) {
    const { role } = turn.message;
    if (role === "tool") {
      addResult(turn);
    } else if (role === "system" && order.length > 0) {
      const found = `unexpected system message at index ${turn.index}`;
      note("error", "unexpected_system_message", turn.index, ["role"], found, "dropped the message");
    } else {
      order.push(turn);
      for (const call of turn.calls) {
        const made = { turn, call };
        const known = byId.get(call.call.id);
        if (known) {
          known.open.push(made);
          known.newest = made;
        } else byId.set(call.call.id, { open: [made], newest: made });
      }
    }
  }
  return order;

  function addResult(result: Turn): void {
    const { index, message } = result;
    const id = message.tool_call_id ?? "";
    const known = byId.get(id);
    if (!known) {
      note("error", "orphaned_tool_call_id", index, ["tool_call_id"], `orphaned tool_call_id "${id}"`, "dropped the result");
      return;
    }
    const open = known.open.pop();
    const { turn, call } = open ?? known.newest;
    if (!open && policy.duplicateResults !== "last") {
      note("warning", "duplicate_tool_result", index, ["tool_call_id"], `"${id}" has a result already`, "dropped the result");
      return;
    }
    if (message.name === undefined) {
      message.name = call.call.function.name;
      note("warning", "tool_name_backfilled", index, ["name"], `result of "${id}" carried no name`, `took "${message.name}" from the call`);
    }
    const earlier = call.result;
    call.result = result;
    if (earlier) {
      earlier.dropped = true;
      note("warning", "duplicate_tool_result", earlier.index, ["tool_call_id"], `"${id}" has a later result`, "dropped the result");
    }
    const follows = order.at(-1) === turn;
    if (follows || policy.displacedResults !== "keep") turn.results.push(result);
    else order.push(result);
    if (follows || policy.displacedResults === "keep") return;
    const found = `result of "${id}" came after the conversation had gone on`;
    note("warning", "displaced_tool_result", index, [], found, `moved it behind the turn of index ${turn.index}`);
  }
}

/** The content of a result that a repair made up. */
const missingResult = JSON.stringify({ error: resultMissing, message: "the conversation went on without a result" });

/** Last pass: every call is answered, or goes. */
function settleTurn(turn: Turn, policy: RepairPolicy, note: Note): void {
  const missing = turn.calls.filter(({ result }) => !result);
  if (missing.length === 0 || policy.missingResults === "keep") return;
  const drop = policy.missingResults === "drop_call";
  for (const { call, place } of missing) {
    const { id, function: named } = call;
    const fix = drop ? "dropped the call" : "answered it with an error";
    note("warning", "tool_result_missing", turn.index, ["tool_calls", place], `"${id}" (${named.name}) has no result`, fix);
    if (drop) continue;
    const message: AgentMessage = { role: "tool", content: missingResult, tool_call_id: id, name: named.name };
    turn.results.push({ index: turn.index, message, calls: [], results: [], dropped: false });
  }
  if (!drop) return;
  const kept = turn.calls.filter(({ result }) => result);
  if (kept.length > 0) turn.message.tool_calls = kept.map(({ call }) => call);
  else delete turn.message.tool_calls;
  turn.dropped = dropEmpty(turn, policy, note);
}
