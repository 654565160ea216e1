import type { LanguageModelV4 } from "@ai-sdk/provider";
import { eventsFromMessages, messageOf, OrchaError, validateHistory, type AgentMessage, type Turn } from "@orcha/contract";
import type { AgentOptions, ChatOptions, StreamOptions } from "./agent-options.ts";
import { actionTools } from "./agent-tools.ts";
import { AgentTurn } from "./agent-turn.ts";
import { defaultModel } from "./default-model.ts";
import type { ReadParameters } from "./function-shape.ts";
import type { ActionTool } from "./loop-tool.ts";
import { ResponseCache } from "./response-cache.ts";

/** What differs between a program and an app on a phone. */
export interface AgentSurroundings {
  /** Finds the model of a name, or of none. */
  resolveModel: (name?: string) => Promise<LanguageModelV4>;
  /** Reads plain functions that are tools. Where it has to be loaded first, their faults show in the first turn. */
  readParameters: ReadParameters | { load: () => Promise<ReadParameters> };
}

/** An answer, and what it adds to the conversation. */
interface Answer {
  text: string;
  turns: readonly Turn[];
}

/**
 * An agent and its conversation, in one process. Turns come one after the other: while one is under way, another
 * `chat` or `stream` is refused with `session_busy`.
 */
export class BaseAgent {
  readonly name: string | undefined;
  private readonly options: AgentOptions;
  private readonly surroundings: AgentSurroundings;
  /** The conversation, with what its provider needs back: `AgentMessage` can't carry that. */
  private turns: readonly Turn[] = [];
  private readonly cache: ResponseCache<Answer> | undefined;
  private tools: Promise<ActionTool[]> | undefined;
  private named: Promise<LanguageModelV4> | undefined;
  private isBusy = false;

  /** Throws a `TypeError` for a tool that can't be one. */
  constructor(options: AgentOptions, surroundings: AgentSurroundings) {
    const { name, tools = [], cache = false } = options;
    const { readParameters: read } = surroundings;
    this.name = name;
    this.options = options;
    this.surroundings = surroundings;
    this.cache = cache === false ? undefined : new ResponseCache(cache === true ? {} : cache);
    const isRead = typeof read === "function" || !tools.some((tool) => typeof tool === "function");
    if (isRead) this.tools = Promise.resolve(actionTools(tools, typeof read === "function" ? read : () => []));
  }

  /**
   * Says something and answers with the model's text; both are then part of the history, and so is every tool call
   * between them. Throws `OrchaError` (`provider_error`, `execution_failed`, `aborted`, `session_busy`), and the history
   * stays as it was.
   */
  async chat(prompt: string, options: ChatOptions = {}): Promise<string> {
    this.begin();
    try {
      const before = this.turns;
      const answer = await this.answer(prompt, options);
      this.record(before, answer.turns);
      return answer.text;
    } finally {
      this.isBusy = false;
    }
  }

  /** Answers as `chat` does, and records nothing. */
  async start(prompt: string, options: ChatOptions = {}): Promise<string> {
    const before = this.turns;
    const answer = await this.answer(prompt, options);
    if (this.turns === before) this.cache?.set(prompt, answer);
    return answer.text;
  }

  /**
   * Says something and gives the answer piece by piece; at the end both are part of the history. A loop that is left, or
   * a signal, stops the model, and what was shown stays as an unfinished answer. Throws what `chat` throws.
   */
  async *stream(prompt: string, { signal }: StreamOptions = {}): AsyncGenerator<string, void, void> {
    this.begin();
    const before = this.turns;
    const stop = linked(signal);
    let turn: AgentTurn | undefined;
    try {
      // Who was given a piece of text can't take it back.
      turn = await this.turn(prompt, stop.signal, { repeatsShown: false });
      for await (const { delta } of turn.texts()) yield delta;
      turn.check();
    } finally {
      stop.release();
      this.isBusy = false;
      const turns = turn?.turns() ?? [];
      if (turn?.end?.status !== "failed" && turns.some(({ role }) => role === "assistant")) this.record(before, turns);
    }
  }

  /** The conversation as messages, copied deeply and without a system message. */
  getHistory(): AgentMessage[] {
    return this.turns.map(messageOf);
  }

  /**
   * Replaces the conversation by a copy of the messages, all of them or none, and clears the cache. A turn that is under
   * way answers, and is not recorded. Throws `HistoryError` at the first message that can't be used.
   */
  setHistory(messages: readonly AgentMessage[]): void {
    const events = eventsFromMessages(validateHistory(messages).messages, new Map());
    this.replace(events.flatMap((event) => (event.type === "message.created" ? [event.data] : [])));
  }

  /** Empties the conversation and the cache. */
  clearHistory(): void {
    this.replace([]);
  }

  private replace(turns: readonly Turn[]): void {
    this.turns = turns;
    this.cache?.clear();
  }

  /** A conversation that was replaced meanwhile isn't the one that the turns belong to. */
  private record(before: readonly Turn[], turns: readonly Turn[]): void {
    if (this.turns === before) this.replace([...before, ...turns]);
  }

  private begin(): void {
    if (this.isBusy) {
      throw new OrchaError("session_busy", "another turn of this agent is under way: wait for it, or give each conversation an agent of its own");
    }
    this.isBusy = true;
  }

  private async answer(prompt: string, { signal, onText }: ChatOptions): Promise<Answer> {
    const cached = this.cache?.get(prompt);
    if (cached) {
      onText?.(cached.text);
      return cached;
    }
    const stop = linked(signal);
    try {
      const turn = await this.turn(prompt, stop.signal);
      for await (const { text } of turn.texts()) onText?.(text);
      turn.check();
      return { text: turn.text, turns: turn.turns() };
    } finally {
      stop.release();
    }
  }

  private async turn(prompt: string, signal: AbortSignal, more: { repeatsShown?: boolean } = {}): Promise<AgentTurn> {
    if (typeof prompt !== "string" || prompt.trim() === "") {
      throw new OrchaError("invalid_input", "the prompt must be a text that is not blank", { details: { path: "prompt" } });
    }
    const { instructions = "", name: _name, model: _model, tools: _tools, cache: _cache, maxRounds, ...settings } = this.options;
    const [model, tools] = [await this.model(), await this.actionTools()];
    const rounds = maxRounds === undefined ? {} : { maxRounds };
    return new AgentTurn(prompt, { model, tools, settings, signal, instructions: () => instructions, turns: this.turns, ...rounds, ...more });
  }

  private async model(): Promise<LanguageModelV4> {
    const model = this.options.model ?? defaultModel();
    if (typeof model === "object") return model;
    if (this.options.model === undefined) return this.surroundings.resolveModel(model);
    // A name that failed to resolve may do so later, once its package is there.
    this.named ??= this.surroundings.resolveModel(model).catch((error: unknown) => {
      this.named = undefined;
      throw error;
    });
    return this.named;
  }

  private actionTools(): Promise<ActionTool[]> {
    const { readParameters: read } = this.surroundings;
    this.tools ??= (async () => actionTools(this.options.tools ?? [], typeof read === "function" ? read : await read.load()))();
    return this.tools;
  }
}

/** A signal of the turn's own, so that any reason of the caller's means stop. */
function linked(outer: AbortSignal | undefined): { signal: AbortSignal; release: () => void } {
  const inner = new AbortController();
  const stop = (): void => inner.abort("stop");
  if (outer?.aborted) stop();
  outer?.addEventListener("abort", stop, { once: true });
  return { signal: inner.signal, release: () => outer?.removeEventListener("abort", stop) };
}
