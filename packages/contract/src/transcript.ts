import type { AgentMessage, AgentToolCall } from "./agent-message.ts";
import { CallLedger } from "./call-ledger.ts";
import type { AssistantContent, ToolCallContent, ToolResultContent } from "./content.ts";
import type { ClientActionResult, EventDataByType, EventInput, EventOf, MessageCreated, SessionEvent } from "./event.ts";
import { resultMissing } from "./projection.ts";
import { isRounded, parseArguments, type KnownCall } from "./restore.ts";

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
      events.push({ type: "action.requested", data: { callId: id, name: named.name, ...exactArguments(named.arguments) } });
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
      ...exactArguments(named.arguments),
    }),
  );
  return { role: "assistant", ...name, content: [...text, ...calls] };
}

/** As `argumentsData`, but what was said elsewhere is never shown with other digits: then the text alone is kept. */
function exactArguments(text: string): { arguments?: unknown; argumentsText?: string } {
  const data = argumentsData(text);
  return data.arguments && isRounded(text) ? { argumentsText: text } : data;
}

/** The parsed arguments, and their exact text where that says more: precision, order, spaces, damage. */
export function argumentsData(text: string): { arguments?: unknown; argumentsText?: string } {
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
 * Reads the model's view of a log: every message in order, the results of calls where no tool turn repeats them, and
 * nothing that was made up for the history. `AgentMessage` carries text alone, so media stay in the events.
 */
export function messagesFromEvents(events: Iterable<SessionEvent>): AgentMessage[] {
  const transcript = new Transcript();
  for (const event of events) transcript.add(event);
  return transcript.messages();
}

/** One turn of the conversation with everything that the log has of it; a tool turn holds one result. */
export type Turn = MessageCreated;

/** A turn, and the tool turns that stand behind it. */
interface Exchange {
  /** Absent where tool turns open the conversation. */
  turn?: Turn;
  results?: Set<Turn>;
}

/** A call, and where it was made. */
interface MadeCall {
  name: string;
  exchange: Exchange;
}

/** Builds the model's view of a log event by event, for logs that are read in pieces. */
export class Transcript {
  private readonly exchanges: Exchange[] = [];
  /** The newest call of each id. */
  private readonly calls = new Map<string, MadeCall>();
  /** The calls that nothing has answered yet, the nearest last. */
  private readonly open = new Map<string, MadeCall[]>();
  /** Results that no tool turn has repeated yet, and where they stand. */
  private readonly derived = new Map<string, { turn: Turn; exchange: Exchange }>();

  add(event: SessionEvent): void {
    switch (event.type) {
      case "message.created":
        this.addMessage(event.data);
        break;
      case "client_action.resolved":
        for (const result of event.data.results) this.derive(result.callId, answerOf(result));
        break;
      case "action.completed":
        this.derive(event.data.callId, event.data.output === undefined ? {} : { output: event.data.output });
        break;
      case "action.failed":
        if (event.data.synthetic !== true) this.derive(event.data.callId, { output: event.data.error.message, isError: true });
        break;
      case "skill.loaded":
      case "skill.failed":
        if (event.data.callId !== undefined) this.derive(event.data.callId, skillResultOf(event));
        break;
      case "subagent.completed":
      case "subagent.paused":
      case "subagent.failed":
        this.derive(event.data.callId, subagentResultOf(event.data));
        break;
      default:
    }
  }

  /** The turns so far, for a model's next call. */
  turns(): readonly Turn[] {
    const turns: Turn[] = [];
    for (const { turn, results } of this.exchanges) {
      if (turn) turns.push(turn);
      if (results) for (const result of results) turns.push(result);
    }
    return turns;
  }

  messages(): AgentMessage[] {
    return this.turns().map(messageOf);
  }

  private addMessage(data: MessageCreated): void {
    if (data.role === "tool") {
      for (const block of data.content) this.addResult(block);
      return;
    }
    const exchange: Exchange = { turn: data };
    for (const { callId, name } of callsOf(data)) {
      const call = { name, exchange };
      this.calls.set(callId, call);
      this.derived.delete(callId);
      const open = this.open.get(callId);
      if (open) open.push(call);
      else this.open.set(callId, [call]);
    }
    this.exchanges.push(exchange);
  }

  private addResult(block: ToolResultContent): void {
    const repeated = this.derived.get(block.callId);
    if (repeated) repeated.exchange.results?.delete(repeated.turn);
    else this.open.get(block.callId)?.pop();
    this.derived.delete(block.callId);
    const name = block.name ?? this.calls.get(block.callId)?.name;
    const turn = resultTurn(block.callId, name, block);
    const last = this.exchanges.at(-1);
    if (last) addTo(last, turn);
    else this.exchanges.push({ results: new Set([turn]) });
  }

  /**
   * A provider wants each result right behind its call, whatever was said while the call waited. The first stands: a
   * call that has a result, or a tool turn, gets no second one.
   */
  private derive(callId: string, result: ToolOutcome): void {
    const call = this.open.get(callId)?.pop();
    if (!call) return;
    const { exchange, name } = call;
    const turn = resultTurn(callId, name, result);
    addTo(exchange, turn);
    this.derived.set(callId, { turn, exchange });
  }
}

function addTo(exchange: Exchange, result: Turn): void {
  exchange.results ??= new Set();
  exchange.results.add(result);
}

/** What a model reads as the result of a call. */
export type ToolOutcome = Pick<ToolResultContent, "output" | "isError">;

/** What a model is told of a client action's end. */
export function answerOf(result: ClientActionResult): ToolOutcome {
  const { outcome = "answered", output, isError, reason } = result;
  if (outcome !== "answered") {
    return { output: { error: outcome, ...(reason === undefined ? {} : { reason }) }, isError: true };
  }
  return { ...(output === undefined ? {} : { output }), ...(isError === true ? { isError } : {}) };
}

/** What a model is told of a skill that it asked for. */
export function skillResultOf(event: Pick<EventOf<"skill.loaded">, "type" | "data"> | Pick<EventOf<"skill.failed">, "type" | "data">): ToolOutcome {
  if (event.type === "skill.failed") return { output: event.data.error.message, isError: true };
  return { output: { loaded: true, name: event.data.name, alreadyLoaded: event.data.alreadyLoaded === true } };
}

/** What a model is told of a delegation that has ended, or that waits for somebody. */
export function subagentResultOf(data: EventDataByType["subagent.completed"]): ToolOutcome {
  const { agent, sessionId, status, output, error } = data;
  const told = {
    agent,
    childSessionId: sessionId,
    ...(status === undefined ? {} : { status }),
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
  };
  return error === undefined ? { output: told } : { output: told, isError: true };
}

function callsOf(turn: Turn): ToolCallContent[] {
  const blocks: readonly (AssistantContent | ToolResultContent)[] = turn.content;
  return blocks.flatMap((block) => ("type" in block && block.type === "tool_call" ? [block] : []));
}

function resultTurn(callId: string, name: string | undefined, { output, isError }: Omit<ToolResultContent, "callId">): Turn {
  const block = {
    callId,
    ...(name === undefined ? {} : { name }),
    ...(output === undefined ? {} : { output }),
    ...(isError === undefined ? {} : { isError }),
  };
  return { role: "tool", content: [block] };
}

/** Says a turn as `AgentMessage` can: its text, its calls and its one result. */
export function messageOf(turn: Turn): AgentMessage {
  if (turn.role === "tool") {
    const [block = { callId: "" }] = turn.content;
    const name = block.name === undefined ? {} : { name: block.name };
    return { role: "tool", content: outputText(block), tool_call_id: block.callId, ...name };
  }
  const blocks: readonly AssistantContent[] = turn.content;
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const calls = blocks.flatMap((block): AgentToolCall[] =>
    block.type === "tool_call"
      ? [{ id: block.callId, type: "function", function: { name: block.name, arguments: argumentsText(block) } }]
      : [],
  );
  return {
    role: turn.role,
    content: texts.length === 0 ? null : texts.join(""),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(turn.name === undefined ? {} : { name: turn.name }),
  };
}

/** The exact text of a call's arguments. */
export function argumentsText(block: ToolCallContent): string {
  return block.argumentsText ?? JSON.stringify(block.arguments ?? {});
}

/** What a model reads as a result; nothing where the call gave nothing. */
export function outputText(block: Pick<ToolResultContent, "output">): string | null {
  if (block.output === undefined) return null;
  return typeof block.output === "string" ? block.output : JSON.stringify(block.output);
}
