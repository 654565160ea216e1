import type { AgentTypes, MessageContent, TailFrame, ToolResult } from "@orcha/contract";
import type { QueryClient } from "@tanstack/react-query";
import type { AgentClient, Content, ResumeInput } from "../agent-client.ts";
import { toOrchaError } from "../error.ts";
import type { ExecutionResult } from "../execution.ts";
import { createIdempotencyKey } from "../idempotency-key.ts";
import { toFailure, type Failure } from "./failure.ts";
import { historyQuery } from "./history-query.ts";
import {
  MissingItems,
  olderPageOf,
  withAnswer,
  withFrame,
  withOlder,
  withOutcome,
  withSending,
  withUnderWay,
  type HistoryView,
  type Sending,
} from "./history-view.ts";
import { historyKey, sessionsKey, type OrchaKey } from "./keys.ts";
import { isOpening } from "./opening.ts";
import { unawaited } from "./unawaited.ts";

/*
 *   first user, or another page in the cache ──▶ tail behind the view ──▶ frames ──▶ end: over
 *                                                   ▲         │    └── failure that stays: failed, until `reconnect`
 *                                                   └─────────┴── items are missing: once more, then from a new page
 *   last user leaves ──▶ a moment later, unless one is back: the tail ends, and the view waits in the cache
 */

/** How long a tail waits for the next user, in milliseconds. */
const lingerMs = 100;

/** What components do with one session: they share its tail, and write to its view. */
export class LiveHistory<T extends AgentTypes> {
  private readonly queryClient: QueryClient;
  private readonly agentClient: AgentClient<T>;
  private readonly sessionId: string;
  private readonly key: OrchaKey;
  private users = 0;
  private tail: AbortController | undefined;
  /** Of the view that the tail goes on from; another one was written by somebody else. */
  private pin: string | undefined;
  /** The view as it was written last; one with another pin is somebody else's. */
  private known: HistoryView<T> | undefined;
  /** Items were missing, and the page was read anew; a second time would not help. */
  private wasReset = false;
  private older: Promise<void> | undefined;
  /** What is waited for: answers by call id, messages by key. */
  private readonly underWay = new Map<string, Promise<ExecutionResult<T>>>();

  constructor(queryClient: QueryClient, agentClient: AgentClient<T>, sessionId: string) {
    this.queryClient = queryClient;
    this.agentClient = agentClient;
    this.sessionId = sessionId;
    this.key = historyKey(agentClient, sessionId);
  }

  /** Keeps the view that is in the cache up to date, until the answer is called. */
  open(): () => void {
    this.users += 1;
    if (!this.tail || this.view()?.pin.key !== this.pin) this.start();
    let isOpen = true;
    return () => {
      if (isOpen) this.users -= 1;
      isOpen = false;
      // React's strict mode comes back at once, and the next page of an app soon.
      setTimeout(() => {
        if (this.users === 0) this.close();
      }, lingerMs);
    };
  }

  /** Opens the tail anew, after a failure that was seen to, such as a token that had run out. */
  reconnect(): void {
    this.wasReset = false;
    this.start();
  }

  private start(): void {
    this.tail?.abort();
    this.tail = new AbortController();
    this.update((view) => view);
    this.pin = this.view()?.pin.key;
    void this.follow(this.tail.signal);
  }

  /** Loads the page before what is loaded. Never rejects; a failure is in the view, and another call tries again. */
  fetchOlder(): Promise<void> {
    return (this.older ??= this.readOlder().finally(() => (this.older = undefined)));
  }

  /** Says something, and shows it at once; before there is a page, which it would be shown on, it waits for one. */
  send(content: Content, clientCapabilities?: readonly string[]): Promise<ExecutionResult<T>> {
    const message = { key: createIdempotencyKey(), content: blocksOf(content), clientCapabilities, createdAt: new Date().toISOString() };
    return this.view() ? this.say(message) : unawaited(this.sayLater(message));
  }

  /** Says again what failed: by its key, so that it is said once even if it had arrived. */
  retry({ key, content, clientCapabilities, createdAt }: Sending): Promise<ExecutionResult<T>> {
    return this.say({ key, content, clientCapabilities, createdAt });
  }

  /** Shows no more what failed. */
  discard(sent: Sending): void {
    this.update((view) => ({ ...view, sending: view.sending.filter(({ key }) => key !== sent.key) }));
  }

  /** Answers a client action. Clicked twice it is answered once. */
  answer(answer: ToolResult): Promise<ExecutionResult<T>> {
    const { callId } = answer;
    const known = this.underWay.get(callId);
    if (known) return known;
    this.update((view) => withAnswer(view, callId, {}));
    const { result } = this.agentClient.resume(this.sessionId, { toolResults: [answer] });
    this.underWay.set(callId, result);
    void this.settleAnswer(callId, result);
    return result;
  }

  private async settleAnswer(callId: string, result: Promise<ExecutionResult<T>>): Promise<void> {
    const error = await failureOf(result);
    this.underWay.delete(callId);
    // Where it arrived, or another one did, the tail tells so.
    if (error) this.update((view) => withAnswer(view, callId, { error }));
  }

  private say(message: Omit<Sending, "from">): Promise<ExecutionResult<T>> {
    this.update((view) => withSending(view, message));
    const { key, content, clientCapabilities } = message;
    // The names were checked where they were given; data of a cache has no types of an agent.
    const input = { content, clientCapabilities } as ResumeInput<T>;
    const { result } = this.agentClient.resume(this.sessionId, input, { idempotencyKey: key });
    this.underWay.set(key, result);
    void this.settleSending(key, result);
    return result;
  }

  private async sayLater(message: Omit<Sending, "from">): Promise<ExecutionResult<T>> {
    try {
      await this.queryClient.fetchQuery(historyQuery(this.agentClient, this.sessionId));
    } catch (cause) {
      return { status: "failed", sessionId: this.sessionId, error: toOrchaError(cause) };
    }
    return this.say(message);
  }

  private async settleSending(key: string, result: Promise<ExecutionResult<T>>): Promise<void> {
    const error = await failureOf(result);
    this.update((view) => withOutcome(view, key, error ? { error } : { isLogged: true }));
    // Not before: a page that somebody else wrote meanwhile is taken over with it.
    this.underWay.delete(key);
  }

  private view(): HistoryView<T> | undefined {
    return this.queryClient.getQueryData<HistoryView<T>>(this.key);
  }

  private update(change: (view: HistoryView<T>) => HistoryView<T>): void {
    this.queryClient.setQueryData<HistoryView<T>>(this.key, (view) => {
      // Without an answer nothing is written, and nobody renders.
      if (!view) return undefined;
      const taken = view.pin.key === this.known?.pin.key ? view : withUnderWay(view, this.known, (key) => this.underWay.has(key));
      this.known = change(taken);
      return this.known === view ? undefined : { ...this.known, revision: view.revision + 1 };
    });
  }

  private async readOlder(): Promise<void> {
    const before = this.view();
    if (!before || before.start === 0) return;
    this.update((view) => ({ ...view, older: { isFetching: true } }));
    try {
      const { items } = await this.agentClient.history(this.sessionId, olderPageOf(before));
      this.update((view) => {
        const isSame = view.start === before.start && view.pin.key === before.pin.key;
        return { ...(isSame ? withOlder(view, items) : view), older: { isFetching: false } };
      });
    } catch (error) {
      this.update((view) => ({ ...view, older: { isFetching: false, error: toFailure(error) } }));
    }
  }

  private async follow(signal: AbortSignal): Promise<void> {
    const set = (change: Pick<HistoryView<T>, "connection" | "error">): void => {
      if (!signal.aborted) this.update((view) => (view.ended ? view : { ...view, error: undefined, ...change }));
    };
    if (isOpening(this.sessionId)) this.refreshSessions();
    for (let misses = 0; !signal.aborted; misses += 1) {
      const view = this.view();
      if (!view || view.ended) return;
      set({ connection: "connecting" });
      try {
        const onDisconnect = (): void => set({ connection: "reconnecting" });
        for await (const frame of this.agentClient.tail(this.sessionId, { after: view.sequence, signal, onDisconnect })) {
          if (!signal.aborted) this.take(frame);
        }
        return;
      } catch (cause) {
        // It was there when its page was read: it was deleted while nobody could be told.
        const { code } = toOrchaError(cause);
        if (code === "session_not_found") return this.take({ type: "end", reason: "deleted" });
        // Where the log is shorter than what was read of it, it is another one, such as that of a backup.
        const isMissing = cause instanceof MissingItems || code === "invalid_input";
        if (isMissing && misses === 0) continue;
        if (!isMissing || this.wasReset) {
          set({ connection: "failed", error: toFailure(cause) });
          return;
        }
        this.wasReset = true;
        // Its users open the tail of the page that comes.
        await this.queryClient.resetQueries({ queryKey: this.key, exact: true });
        return;
      }
    }
  }

  private take(frame: TailFrame<T>): void {
    const known = this.view()?.snapshot;
    this.update((view) => withFrame(view, frame));
    if (frame.type !== "snapshot" && frame.type !== "end") return;
    const { name, status, runStatus } = this.view()?.snapshot ?? {};
    if (frame.type === "end" || known?.name !== name || known?.status !== status || known?.runStatus !== runStatus) this.refreshSessions();
  }

  /** Lists of sessions show what changed, and when. */
  private refreshSessions(): void {
    void this.queryClient.invalidateQueries({ queryKey: sessionsKey(this.agentClient) });
  }

  private close(): void {
    this.tail?.abort();
    this.tail = undefined;
  }
}

/** Why a message or an answer didn't arrive, or maybe didn't. A run that failed had begun. */
async function failureOf<T extends AgentTypes>(result: Promise<ExecutionResult<T>>): Promise<Failure | undefined> {
  try {
    const end = await result;
    return end.status !== "failed" || "run" in end ? undefined : end.error;
  } catch (cause) {
    return toFailure(cause);
  }
}

function blocksOf(content: Content): MessageContent[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return "type" in content ? [content] : [...content];
}

const ofQueries = new WeakMap<object, { agentClient: unknown; live: unknown }>();

/** Gives all components that show a session the same one; it lives as long as its query in the cache. */
export function liveHistory<T extends AgentTypes>(queryClient: QueryClient, agentClient: AgentClient<T>, sessionId: string): LiveHistory<T> {
  const query = queryClient.getQueryCache().find({ queryKey: historyKey(agentClient, sessionId), exact: true });
  const known = query && ofQueries.get(query);
  // Found by the client whose types it was made with.
  if (known?.agentClient === agentClient) return known.live as LiveHistory<T>;
  const live = new LiveHistory(queryClient, agentClient, sessionId);
  if (query) ofQueries.set(query, { agentClient, live });
  return live;
}
