import type { AgentMessage, AgentToolCall, Finding, FindingCode } from "./agent-message.ts";
import { CallLedger, type LedgerCall } from "./call-ledger.ts";
import { cutText } from "./cut-text.ts";
import { findJsonFault, formatPath, isPlainObject, maxJsonDepth, type Path } from "./json.ts";

/** Why a history can't be restored: the first fault, at the message's index in the given array. */
export class HistoryError extends Error {
  override readonly name = "HistoryError";
  readonly code: FindingCode;
  readonly index: number;
  readonly finding: Finding;

  constructor(finding: Finding) {
    super(finding.message);
    this.code = finding.code;
    this.index = finding.index;
    this.finding = finding;
  }
}

/** What is known of a call id that came earlier in the conversation. */
export interface KnownCall {
  name: string;
  /** Client actions wait for a person, whatever is said meanwhile; default "action". */
  kind?: "action" | "client_action";
  /** "missing" where the conversation went on without a result, which may still come. */
  state: "waiting" | "missing" | "answered";
}

/** The calls of a conversation that a batch of messages goes on from, oldest first for each id. */
export type KnownCalls = ReadonlyMap<string, readonly KnownCall[]>;

/** A history that passed: copies restricted to the fields of `AgentMessage`, names filled in, and what was found. */
export interface CheckedHistory {
  messages: AgentMessage[];
  findings: Finding[];
}

/**
 * Checks a whole history before anything of it is used, in the order and with the phrases of the seed, and copies it
 * deeply. A leading system message is stripped. Throws `HistoryError` at the first fault.
 */
export function validateHistory(messages: unknown): CheckedHistory {
  return validate(messages, { leadingSystem: true, known: new Map() });
}

/**
 * Checks messages that continue a conversation: results may answer its calls, and a system message is refused at any
 * index. Throws `HistoryError` at the first fault.
 */
export function validateContinuation(messages: unknown, known: KnownCalls): CheckedHistory {
  return validate(messages, { leadingSystem: false, known });
}

/** Lists everything that `validateHistory` would refuse, change or warn of; empty for a clean history. */
export function checkHistory(messages: unknown): Finding[] {
  const findings = [...findFaults(messages, { leadingSystem: true, known: new Map() })];
  if (findings.some(({ severity }) => severity === "error")) return findings;
  return read(messages as readonly RawMessage[], new Map()).findings;
}

interface Rules {
  leadingSystem: boolean;
  known: KnownCalls;
}

type RawMessage = Record<string, unknown>;

/** A message may come as an instance of some class: only its fields count. */
function isObject(value: unknown): value is RawMessage {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function validate(messages: unknown, rules: Rules): CheckedHistory {
  const fault = findFaults(messages, rules).next().value;
  if (fault) throw new HistoryError(fault);
  // Without a fault the array holds what `read` expects.
  return read(messages as readonly RawMessage[], rules.known);
}

function* findFaults(messages: unknown, rules: Rules): Generator<Finding, undefined> {
  if (!Array.isArray(messages)) {
    yield error("not_an_array", 0, [], "expected an array of messages");
    return undefined;
  }
  yield* findSeedFaults(messages, rules);
  for (const [index, message] of messages.entries()) {
    if (isObject(message)) yield* findOwnFaults(message, index);
  }
  return undefined;
}

/** The roles that a message may have. */
export const roles: readonly unknown[] = ["system", "user", "assistant", "tool"];

/** The seed's own checks come first, over all messages, so that its phrases are what a caller sees. */
function* findSeedFaults(messages: readonly unknown[], rules: Rules): Generator<Finding> {
  const seen = new Set<unknown>(rules.known.keys());
  for (const [index, message] of messages.entries()) {
    if (!isObject(message)) {
      yield error("message_not_object", index, [], `message at index ${index} is not an object`);
      continue;
    }
    const { role, tool_call_id: id, tool_calls: calls } = message;
    if (!roles.includes(role)) {
      yield error("unknown_role", index, ["role"], `message at index ${index} has unknown role "${print(role)}"`);
    } else if (role === "system" && (index > 0 || !rules.leadingSystem)) {
      yield error("unexpected_system_message", index, ["role"], `unexpected system message at index ${index}`);
    } else if (role === "tool" && (id === "" || !seen.has(id))) {
      yield error("orphaned_tool_call_id", index, ["tool_call_id"], `orphaned tool_call_id "${print(id)}"`);
    }
    if (!Array.isArray(calls)) continue;
    for (const call of calls as unknown[]) {
      if (isPlainObject(call) && typeof call["id"] === "string") seen.add(call["id"]);
    }
  }
}

function fieldsOf(message: object): object {
  return isPlainObject(message) ? message : { ...message };
}

/** What the seed leaves to chance, and would fail far from here. */
function* findOwnFaults(message: RawMessage, index: number): Generator<Finding> {
  const { role, content, name, tool_calls: calls } = message;
  const unsafe = findJsonFault(fieldsOf(message));
  if (unsafe) {
    yield error("value_not_json", index, unsafe.path, `message at index ${index}: ${formatPath(unsafe.path)} ${unsafe.reason}`);
    return;
  }
  if (typeof content !== "string" && content !== null) {
    yield error("content_invalid", index, ["content"], `message at index ${index} has content that is neither a string nor null`);
  }
  if (name !== undefined && typeof name !== "string") {
    yield error("name_invalid", index, ["name"], `message at index ${index} has a name that is not a string`);
  }
  if (calls === undefined || role === "system") return;
  if (!Array.isArray(calls)) {
    yield error("tool_calls_invalid", index, ["tool_calls"], `message at index ${index} has tool_calls that are not an array`);
    return;
  }
  if (role !== "assistant" && calls.length > 0) {
    yield error("tool_calls_invalid", index, ["tool_calls"], `message at index ${index} has tool_calls on a ${print(role)} turn`);
  }
  for (const [place, call] of (calls as unknown[]).entries()) yield* findCallFaults(call, index, place);
}

function* findCallFaults(call: unknown, index: number, place: number): Generator<Finding> {
  const at = ["tool_calls", place] as const;
  const where = `message at index ${index} has tool_calls[${place}]`;
  if (!isPlainObject(call)) {
    yield error("tool_calls_invalid", index, at, `${where} that is not an object`);
    return;
  }
  const { id, type, function: named } = call;
  if (typeof id !== "string" || id === "" || id.length > 512) {
    yield error("tool_calls_invalid", index, [...at, "id"], `${where} without an id of 1 to 512 characters`);
  }
  if (type !== "function") {
    yield error("tool_calls_invalid", index, [...at, "type"], `${where} whose type is not "function"`);
  }
  if (!isPlainObject(named) || typeof named["name"] !== "string" || named["name"] === "" || named["name"].length > 200) {
    yield error("tool_calls_invalid", index, [...at, "function"], `${where} without a function name of 1 to 200 characters`);
    return;
  }
  if (typeof named["arguments"] !== "string") {
    yield error("arguments_not_string", index, [...at, "function", "arguments"], `${where} whose arguments are not a string`);
  }
}

interface Call extends LedgerCall {
  name: string;
  /** Where the turn of the call stands; -1 where it came before this batch. */
  index: number;
}

/** Copies a faultless history, pairs its calls and results, and says what it had to assume. */
function read(input: readonly RawMessage[], known: KnownCalls): CheckedHistory {
  const messages: AgentMessage[] = [];
  const findings: Finding[] = [];
  const calls = new CallLedger<Call>();
  for (const [id, earlier] of known) {
    for (const { name, kind, state } of earlier) calls.remember(id, { name, ...(kind ? { kind } : {}), index: -1 }, state);
  }

  for (const [index, raw] of input.entries()) {
    const role = raw["role"] as AgentMessage["role"];
    if (role === "system") {
      findings.push(info("system_message_stripped", index, [], `leading system message stripped`));
      continue;
    }
    if (role !== "tool") findings.push(...calls.goOn().map(missing));
    const message: AgentMessage = { role, content: raw["content"] as string | null };
    const toolCalls = (raw["tool_calls"] ?? []) as AgentToolCall[];
    if (toolCalls.length > 0) {
      message.tool_calls = toolCalls.map(copyCall);
      for (const [place, call] of message.tool_calls.entries()) {
        findings.push(...findCallWarnings(call, index, place, calls));
        calls.request(call.id, { name: call.function.name, index });
      }
    } else if (raw["tool_calls"] !== undefined && role === "assistant") {
      findings.push(warning("empty_tool_calls", index, ["tool_calls"], "empty tool_calls left out"));
    }
    if (role === "tool") answer(message, raw, index);
    else if (typeof raw["name"] === "string") message.name = raw["name"];
    if (role === "assistant" && !message.content && toolCalls.length === 0) {
      findings.push(warning("empty_assistant_turn", index, [], `message at index ${index} is an assistant turn with neither text nor calls`));
    }
    if (message.content !== null && !message.content.isWellFormed()) {
      const of = message.tool_call_id === undefined ? "" : ` of "${message.tool_call_id}"`;
      findings.push(warning("lone_surrogate", index, ["content"], `content${of} has half a character; providers get U+FFFD for it`));
    }
    const ignored = Object.keys(raw).filter((key) => !isKept(role, key));
    if (ignored.length > 0) {
      findings.push(info("field_ignored", index, [short(ignored[0] ?? "")], `message at index ${index}: left out ${short(ignored.join(", "))}`));
    }
    messages.push(message);
  }
  findings.push(...calls.goOn().map(missing));
  return { messages, findings };

  function answer(message: AgentMessage, raw: RawMessage, index: number): void {
    const id = raw["tool_call_id"] as string;
    const answered = calls.answer(id);
    const call = answered ?? calls.newest(id);
    message.tool_call_id = id;
    if (!answered) findings.push(warning("duplicate_tool_result", index, ["tool_call_id"], `"${id}" has a result already; the first one stands`));
    if (typeof raw["name"] === "string" && raw["name"] !== "") message.name = raw["name"];
    else if (call) {
      message.name = call.name;
      findings.push({
        ...warning("tool_name_backfilled", index, ["name"], `result of "${id}" carried no name`),
        fix: `took "${call.name}" from the call`,
      });
    }
  }
}

function* findCallWarnings(
  call: AgentToolCall,
  index: number,
  nth: number,
  calls: CallLedger<Call>,
): Generator<Finding> {
  const at = ["tool_calls", nth] as const;
  if (calls.has(call.id)) {
    yield warning("tool_call_id_reused", index, [...at, "id"], `"${call.id}" names an earlier call too; a result belongs to the nearest open one`);
  }
  const text = call.function.arguments;
  const place = [...at, "function", "arguments"];
  if (!parseArguments(text)) {
    yield warning("arguments_invalid_json", index, place, `arguments of "${call.id}" are not a JSON object; their text is kept`);
  } else if (isRounded(text)) {
    yield warning("arguments_not_exact", index, place, `arguments of "${call.id}" hold a number that JavaScript rounds; their text is kept`);
  }
}

/** Reads the text of a call's arguments: an object, `{}` where the text is blank, nothing where it is not one. */
export function parseArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  // Four levels are those of the event that the arguments are stored in.
  return isPlainObject(value) && !findJsonFault(value, maxJsonDepth - 4) ? value : undefined;
}

/** Tells whether a call's arguments hold a whole number that JavaScript doesn't keep digit by digit, such as a long id. */
export function isRounded(text: string): boolean {
  return /\d{16}/.test(text) && longNumbers(text) !== longNumbers(JSON.stringify(parseArguments(text)));
}

/** Those in strings too, which are the same before and after. */
function longNumbers(json: string): string {
  const numbers = json.match(/\d[\d.]{15,}/g) ?? [];
  return String(numbers.filter((number) => !number.includes(".")).sort());
}

function copyCall(call: AgentToolCall): AgentToolCall {
  return { id: call.id, type: "function", function: { name: call.function.name, arguments: call.function.arguments } };
}

function isKept(role: string, key: string): boolean {
  if (key === "tool_call_id") return role === "tool";
  return key === "role" || key === "content" || key === "name" || key === "tool_calls";
}

function missing({ id, call }: { id: string; call: Call }): Finding {
  const index = Math.max(call.index, 0);
  return {
    ...warning("tool_result_missing", index, ["tool_calls"], `"${id}" (${call.name}) has no result`),
    fix: "history shows it as failed; a later result completes it",
  };
}

/** Prints a value that should have been another string, as much of it as tells which one it is. */
export function print(value: unknown): string {
  if (typeof value === "string") return short(value);
  return typeof value === "object" && value !== null ? (Array.isArray(value) ? "array" : "object") : String(value);
}

/** What a finding quotes goes into errors and receipts, where no content belongs. */
function short(text: string): string {
  return cutText(text, 200);
}

function finding(severity: Finding["severity"], code: FindingCode, index: number, path: Path, message: string): Finding {
  return { severity, code, index, path: formatPath(code === "not_an_array" ? [] : [index, ...path]), message };
}

function error(code: FindingCode, index: number, path: Path, message: string): Finding {
  return finding("error", code, index, path, message);
}

function warning(code: FindingCode, index: number, path: Path, message: string): Finding {
  return finding("warning", code, index, path, message);
}

function info(code: FindingCode, index: number, path: Path, message: string): Finding {
  return finding("info", code, index, path, message);
}
