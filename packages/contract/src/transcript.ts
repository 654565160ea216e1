import type { AgentMessage, AgentToolCall } from "./agent-message.ts";
import { CallLedger } from "./call-ledger.ts";
import type { AssistantContent, ToolCallContent, ToolResultContent } from "./content.ts";
import type { ClientActionResult, EventInput, EventOf, MessageCreated, SessionEvent } from "./event.ts";
import { resultMissing } from "./projection.ts";
import { parseArguments, type KnownCall } from "./restore.ts";

/** A call of the conversation that messages go on from, and how its result is logged. */
export interface LoggedCall extends KnownCall {
  kind: "action" | "client_action";
}

/**
 * Writes checked messages as events: each message, and around it the requests and results of its calls.
 * `known` are the calls that came before; `unansweredEvents` closes what stays open.
 */
export function eventsFromMessages(messages: readonly AgentMessage[], known: ReadonlyMap<string, readonly LoggedCall[]>): EventInput[] {
  const calls = new CallLedger<Omit<LoggedCall, "state">>();
  for (const [id, earlier] of known) for (const call of earlier) calls.remember(id, call, call.state);
  const events: EventInput[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      events.push(...resultEvents(message, calls));
      continue;
    }
    calls.goOn();
    events.push({ type: "message.created", data: messageData(message) });
    for (const { id, function: named } of message.tool_calls ?? []) {
      calls.request(id, { kind: "action", name: named.name });
      events.push({ type: "action.requested", data: { callId: id, name: named.name, ...argumentsData(named.arguments) } });
    }
  }
  return events;
}

function resultEvents(message: AgentMessage, calls: CallLedger<Omit<LoggedCall, "state">>): EventInput[] {
  const callId = message.tool_call_id ?? "";
  const output = message.content === null ? {} : { output: message.content };
  const call = calls.answer(callId);
  const name = message.name ?? call?.name ?? "";
  const events: EventInput[] = [];
  if (call) {
    events.push(
      call.kind === "action"
        ? { type: "action.completed", data: { callId, name: call.name, ...output } }
        : { type: "client_action.resolved", data: { results: [{ callId, outcome: "answered", ...output }] } },
    );
  }
  events.push({ type: "message.created", data: { role: "tool", content: [{ callId, name, ...output }] } });
  return events;
}

function messageData(message: AgentMessage): MessageCreated {
  const text = message.content === null ? [] : [{ type: "text" as const, text: message.content }];
  const name = message.name === undefined ? {} : { name: message.name };
  if (message.role !== "assistant") return { role: "user", ...name, content: text };
  const calls = (message.tool_calls ?? []).map(
    ({ id, function: named }): ToolCallContent => ({
      type: "tool_call",
      callId: id,
      name: named.name,
      ...argumentsData(named.arguments),
    }),
  );
  return { role: "assistant", ...name, content: [...text, ...calls] };
}

/** The parsed arguments, and their exact text where that says more: precision, order, spaces, damage. */
function argumentsData(text: string): { arguments?: unknown; argumentsText?: string } {
  const parsed = parseArguments(text);
  if (parsed === undefined) return { argumentsText: text };
  return JSON.stringify(parsed) === text ? { arguments: parsed } : { arguments: parsed, argumentsText: text };
}

/** A call that is still open. */
export interface OpenCall {
  callId: string;
  name: string;
}

/** Closes actions that the conversation goes on without; a later real result still completes them. */
export function unansweredEvents(open: readonly OpenCall[]): EventInput[] {
  return open.map(({ callId, name }) => ({
    type: "action.failed",
    data: {
      callId,
      name,
      error: { code: resultMissing, message: "the conversation went on without a result" },
      synthetic: true,
    },
  }));
}

/** Ends client actions without an answer, as many in one event as it takes. */
export function cancelledEvents(open: readonly OpenCall[]): EventInput[] {
  const results = open.map(({ callId }): ClientActionResult => ({ callId, outcome: "cancelled" }));
  const events: EventInput[] = [];
  for (let start = 0; start < results.length; start += maxResults) {
    events.push({ type: "client_action.resolved", data: { results: results.slice(start, start + maxResults) } });
  }
  return events;
}

/** The most results that one `client_action.resolved` takes. */
const maxResults = 100;

/** Collects the calls that a list of messages refers to, for a look-up before they are checked. */
export function referredCallIds(messages: unknown): string[] {
  if (!Array.isArray(messages)) return [];
  const ids = new Set<string>();
  for (const message of messages as unknown[]) {
    if (typeof message !== "object" || message === null) continue;
    const { tool_call_id: id, tool_calls: calls } = message as Partial<AgentMessage>;
    if (typeof id === "string") ids.add(id);
    if (!Array.isArray(calls)) continue;
    for (const call of calls as unknown[]) {
      const callId = (call as Partial<AgentToolCall> | null)?.id;
      if (typeof callId === "string") ids.add(callId);
    }
  }
  return [...ids];
}

/**
 * Reads the model's view of a log: every message in order, the answers of client actions where no tool turn repeats
 * them, and nothing that was made up for the history. `AgentMessage` carries text alone, so media stay in the events.
 */
export function messagesFromEvents(events: Iterable<SessionEvent>): AgentMessage[] {
  const transcript = new Transcript();
  for (const event of events) transcript.add(event);
  return transcript.messages();
}

/** Builds the model's view of a log event by event, for logs that are read in pieces. */
export class Transcript {
  private readonly turns: AgentMessage[] = [];
  /** The turn that made each call: the newest, where an id is used again. */
  private readonly callers = new Map<string, AgentMessage>();
  /** The turns of the calls that nothing has answered yet, the nearest last. */
  private readonly open = new Map<string, AgentMessage[]>();
  /** Answers that no tool turn has repeated yet. */
  private readonly derived = new Map<string, AgentMessage>();

  add(event: SessionEvent): void {
    if (event.type === "message.created") this.addMessage(event);
    else if (event.type === "client_action.resolved") for (const result of event.data.results) this.addAnswer(result);
  }

  messages(): AgentMessage[] {
    return this.turns;
  }

  private addMessage({ data }: EventOf<"message.created">): void {
    if (data.role === "tool") {
      for (const block of data.content) this.addResult(block);
      return;
    }
    const turn = turnOf(data);
    for (const call of turn.tool_calls ?? []) {
      this.callers.set(call.id, turn);
      this.derived.delete(call.id);
      const open = this.open.get(call.id) ?? [];
      open.push(turn);
      this.open.set(call.id, open);
    }
    this.turns.push(turn);
  }

  private addResult(block: ToolResultContent): void {
    const repeated = this.derived.get(block.callId);
    if (repeated) this.turns.splice(this.turns.lastIndexOf(repeated), 1);
    else this.open.get(block.callId)?.pop();
    this.derived.delete(block.callId);
    this.turns.push(toolTurn(block.callId, block.name ?? nameIn(this.callers.get(block.callId), block.callId), outputText(block)));
  }

  /**
   * A provider wants each answer right behind its call, whatever was said while the call waited. The first stands: a
   * call that has an answer, or a tool turn, gets no second one.
   */
  private addAnswer(result: ClientActionResult): void {
    const caller = this.open.get(result.callId)?.pop();
    if (!caller) return;
    let place = this.turns.lastIndexOf(caller) + 1;
    while (this.turns[place]?.role === "tool") place += 1;
    const turn = toolTurn(result.callId, nameIn(caller, result.callId), answerText(result));
    this.turns.splice(place, 0, turn);
    this.derived.set(result.callId, turn);
  }
}

function nameIn(caller: AgentMessage | undefined, callId: string): string | undefined {
  return caller?.tool_calls?.findLast((call) => call.id === callId)?.function.name;
}

function turnOf(data: Exclude<MessageCreated, { role: "tool" }>): AgentMessage {
  const blocks: readonly AssistantContent[] = data.content;
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const calls = blocks.flatMap((block): AgentToolCall[] =>
    block.type === "tool_call"
      ? [{ id: block.callId, type: "function", function: { name: block.name, arguments: argumentsText(block) } }]
      : [],
  );
  return {
    role: data.role,
    content: texts.length === 0 ? null : texts.join(""),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(data.name === undefined ? {} : { name: data.name }),
  };
}

function argumentsText(block: ToolCallContent): string {
  return block.argumentsText ?? JSON.stringify(block.arguments ?? {});
}

function toolTurn(callId: string, name: string | undefined, content: string | null): AgentMessage {
  return { role: "tool", content, tool_call_id: callId, ...(name === undefined ? {} : { name }) };
}

function outputText(block: { output?: unknown }): string | null {
  if (block.output === undefined) return null;
  return typeof block.output === "string" ? block.output : JSON.stringify(block.output);
}

function answerText(result: ClientActionResult): string | null {
  const outcome = result.outcome ?? "answered";
  if (outcome === "answered") return outputText(result);
  return JSON.stringify({ error: outcome, ...(result.reason === undefined ? {} : { reason: result.reason }) });
}
