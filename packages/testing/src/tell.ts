import type { AgentClient, ExecutionResult } from "@orcha/client";
import type { AnyAgentTypes, MessageContent, MessageCreated, PendingClientAction, SessionEvents, ToolResult } from "@orcha/contract";
import { readTime, type SteeredClock } from "./clock.ts";
import { faultIn } from "./faults.ts";
import type { AnyEntry, HistoryFixture, UserEntry } from "./scenario.ts";
import type { Stage } from "./stage.ts";
import type { AnyStep } from "./step.ts";

/** A fixture whose types are forgotten. */
export type AnyHistory = HistoryFixture<AnyAgentTypes>;

/** What the user said, and everything that came of it. */
interface Exchange {
  said: UserEntry;
  steps: AnyStep[];
  isStopped: boolean;
}

/** Lets a conversation happen: each thing that the user says starts a run, which plays what the agent did about it. */
export async function tell(stage: Stage, agent: string, fixture: AnyHistory & { sessionId: string }): Promise<void> {
  const { clock, player } = stage;
  const client = stage.clientOf(agent);
  const { sessionId, name, metadata, variables, history = [] } = fixture;
  const session = { sessionId, name, metadata: { ...metadata }, variables };
  const { greetings, exchanges } = split(history);
  const [first] = exchanges;
  // A session that says when it was made, and when its first message was, was made before that.
  const isMadeApart = fixture.createdAt !== undefined && first?.said.at !== undefined;
  const startsWithRun = greetings.length === 0 && first !== undefined && first.steps.length > 0 && !isMadeApart;
  if (!startsWithRun) await client.create(session);
  for (const text of greetings) await append(client, sessionId, { role: "assistant", content: [{ type: "text", text }] });
  for (const exchange of exchanges) {
    const { said, steps } = exchange;
    if (said.at !== undefined) moveTo(clock, said.at);
    else if (exchange !== first || !startsWithRun) clock.set(clock.now() + 1000);
    if (steps.length === 0 && exchange.isStopped) throw new TypeError(nothingToStop);
    if (steps.length === 0) {
      await append(client, sessionId, { role: "user", content: blocksOf(said) });
      continue;
    }
    player.prepare(sessionId, steps);
    const isFirst = startsWithRun && exchange === first;
    const execution = isFirst ? client.run({ ...session, content: said.user }) : client.resume(sessionId, { content: said.user });
    await follow(stage, agent, sessionId, exchange, execution);
    const left = steps.length - player.played(agent, sessionId);
    if (left > 0) throw new TypeError(`${left} steps come behind one that waits, hangs or fails`);
  }
}

const nothingToStop = "nothing is under way that could be stopped";

function moveTo(clock: SteeredClock, at: string): void {
  const time = readTime(at, "at");
  if (time < clock.now()) throw new TypeError(`at ${JSON.stringify(at)} is before what stands before it, ${new Date(clock.now()).toISOString()}`);
  clock.set(time);
}

/** What the agent says before the user does is no run: nobody asked for it. */
function split(history: NonNullable<AnyHistory["history"]>): { greetings: string[]; exchanges: Exchange[] } {
  const greetings: string[] = [];
  const exchanges: Exchange[] = [];
  for (const entry of history as readonly AnyEntry[]) {
    const last = exchanges.at(-1);
    if (entry.user !== undefined) exchanges.push({ said: entry, steps: [], isStopped: false });
    else if (entry.stopped) {
      if (!last) throw new TypeError(nothingToStop);
      last.isStopped = true;
    } else if (last) last.steps.push(entry);
    else if (entry.text !== undefined && !("hangs" in entry && entry.hangs)) greetings.push(entry.text);
    else throw new TypeError("before the user says something, the agent can only say a text");
  }
  return { greetings, exchanges };
}

/** Follows a run to its end, says what the fixture says was answered, and leaves the rest as it is. */
async function follow(stage: Stage, agent: string, sessionId: string, { steps, isStopped }: Exchange, { result }: { result: Promise<ExecutionResult> }): Promise<void> {
  const client = stage.clientOf(agent);
  const hung = stage.hung(sessionId);
  for (let waiting: Promise<ExecutionResult> | undefined = result; ; ) {
    const ended: ExecutionResult | undefined = await Promise.race([waiting, hung]);
    if (ended?.status === "failed" && steps.at(-1)?.fail === undefined) {
      // What a call came to is why the run went on to where nothing is told.
      throw new TypeError((await faultIn(stage, agent, sessionId)) ?? ended.error.message);
    }
    const snapshot = await Promise.race([settled(stage, agent, sessionId), hung]);
    const pending = snapshot?.pendingClientActions ?? [];
    const toolResults = pending.flatMap((call) => resultOf(stage, agent, sessionId, call));
    const expired = pending.filter(({ callId }) => outcomeOf(stage, agent, sessionId, callId) === "expired");
    if (toolResults.length > 0) {
      stage.clock.set(stage.clock.now() + 1000);
      waiting = client.resume(sessionId, { toolResults }).result;
    } else if (expired.length > 0) {
      stage.clock.set(Math.max(...expired.map(({ name, expiresAt }) => expiryOf(name, expiresAt))));
      await stage.sweep(agent);
      waiting = undefined;
    } else {
      if (isStopped && snapshot && pending.length === 0) throw new TypeError(nothingToStop);
      if (isStopped) await client.stop(sessionId);
      return;
    }
  }
}

/** Waits until a run has ended or waits for the app, and is judged. */
async function settled({ agents, clientOf }: Stage, agent: string, sessionId: string): Promise<SessionEvents> {
  const evaluations = Object.keys(agents[agent]?.definition.evaluations ?? {}).length;
  for (;;) {
    const answer = await clientOf(agent).events(sessionId, { pageSize: Math.min(100, 4 + 2 * evaluations) });
    const types = answer.events.map(({ type }) => type);
    const judged = types.slice(types.lastIndexOf("run.completed")).filter((type) => type === "evaluation.completed" || type === "evaluation.failed").length;
    const isAtWork = answer.runStatus === "running" || answer.runStatus === "waiting_for_subagent";
    if (!isAtWork && (answer.runStatus !== "completed" || judged >= evaluations)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function resultOf({ player }: Stage, agent: string, sessionId: string, { callId }: PendingClientAction): ToolResult[] {
  const call = player.find(agent, sessionId, callId);
  if (call?.clientAction === undefined) return [];
  if (call.outcome === "denied") return [{ callId, deny: true, ...(call.reason === undefined ? {} : { reason: call.reason }) }];
  return Object.hasOwn(call, "output") ? [{ callId, output: call.output }] : [];
}

function outcomeOf({ player }: Stage, agent: string, sessionId: string, callId: string): string | undefined {
  const call = player.find(agent, sessionId, callId);
  return call?.clientAction === undefined ? undefined : call.outcome;
}

function expiryOf(name: string, expiresAt: string | undefined): number {
  if (expiresAt === undefined) throw new TypeError(`${name} never expires: its definition has no expiresInMs`);
  return Date.parse(expiresAt);
}

async function append(client: AgentClient, sessionId: string, data: MessageCreated): Promise<void> {
  await client.append(sessionId, { events: [{ type: "message.created", data }] });
}

function blocksOf({ user }: UserEntry): MessageContent[] {
  if (typeof user === "string") return [{ type: "text", text: user }];
  return "type" in user ? [user] : [...user];
}
