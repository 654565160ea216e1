import { scriptedModel } from "@orcha/agent/testing";
import type { AnyAgentTypes, Turn } from "@orcha/contract";
import type { ActionContext, DrivenRun, ModelFor, Score } from "@orcha/server";
import { Performance } from "./performance.ts";
import { replyOf } from "./reply.ts";
import type { ScriptedRun } from "./scenario.ts";
import type { RunScript } from "./script.ts";
import { replyStream } from "./reply-stream.ts";
import { sleep } from "./sleep.ts";
import { callsOf, type AnyCall, type AnyStep, type Scores } from "./step.ts";

/** Who is told as runs go on. */
export interface Audience {
  /** Before each step. */
  onStep: () => void;
  /** Where a step never ends. */
  onHang: (sessionId: string) => void;
  /** Where a step cuts the streams of its session. */
  onCut: (sessionId: string) => void;
}

/** Plays the steps of runs as their models, and does what they say of actions. */
export class Player {
  private readonly scripts: ReadonlyMap<string, RunScript>;
  private readonly audience: Audience;
  private readonly performances: Performance[] = [];
  private readonly prepared = new Map<string, readonly AnyStep[]>();

  constructor(scripts: ReadonlyMap<string, RunScript>, audience: Audience) {
    this.scripts = scripts;
    this.audience = audience;
  }

  /** Lets the next run of a session play these steps, in place of the script's. */
  prepare(sessionId: string, steps: readonly AnyStep[]): void {
    this.prepared.set(sessionId, steps);
  }

  /** How many steps the session's newest run has played. */
  played(agent: string, sessionId: string): number {
    return this.of(agent, sessionId).at(-1)?.played ?? 0;
  }

  /** The model of one run. After a crash or a pause it goes on with the first step that the log doesn't have whole. */
  readonly modelFor: ModelFor = (_model, driven) => {
    const { sessionId } = driven.ref;
    const { audience } = this;
    const performance = this.performanceOf(driven);
    let place = wholeTurns(driven.turns) - performance.before;
    let calls = callCount(driven.turns);
    let playing: AnyStep | undefined;
    const model = scriptedModel(async () => {
      const step = performance.steps[place] ?? (await this.refill(performance, place, driven));
      place += 1;
      performance.played = place;
      playing = step;
      this.audience.onStep();
      const named = callsOf(step).map((call) => {
        calls += 1;
        const { callId = `call_${calls}` } = call;
        performance.keep(callId, call);
        return { callId, call };
      });
      if ("evaluations" in step) performance.scores = step.evaluations ?? {};
      return replyOf(step, named);
    });
    return {
      ...model,
      async doStream(request) {
        const { stream, ...answer } = await model.doStream(request);
        return { ...answer, stream: replyStream(stream, playing, { onCut: () => audience.onCut(sessionId), onHang: () => audience.onHang(sessionId) }) };
      },
    };
  };

  /** Does what the step says of its action; where it says nothing, what the scenario's own action does. */
  async act(agent: string, name: string, context: ActionContext, own: (() => unknown) | undefined): Promise<unknown> {
    const { sessionId, callId, signal } = context;
    const call = this.find(agent, sessionId, callId);
    if (call?.action === undefined) return own?.();
    if (call.hangs) this.audience.onHang(sessionId);
    await sleep(call.hangs ? Infinity : (call.takesMs ?? 0), signal);
    if (call.error !== undefined) throw new Error(call.error);
    if (Object.hasOwn(call, "output")) return call.output;
    if (own) return own();
    throw new Error(`the step of ${agent} that calls ${name} says neither output nor error, and the scenario has no such action`);
  }

  /** The scores by the answer's word, else by the scenario's, else 1 for every metric. */
  scores(agent: string, name: string, metrics: readonly string[], sessionId: string, usual: Scores | undefined): Record<string, Score> {
    const given = this.of(agent, sessionId).at(-1)?.scores[name] ?? usual ?? {};
    return Object.fromEntries(
      metrics.map((metric) => {
        const score = given[metric] ?? 1;
        return [metric, typeof score === "number" ? { score, reasoning: "So the test says." } : score];
      }),
    );
  }

  private performanceOf({ ref, run, turns }: DrivenRun): Performance {
    const known = this.of(ref.agent, ref.sessionId).find((performance) => performance.run === run);
    if (known) return known;
    const performance = new Performance(ref.agent, ref.sessionId, run, wholeTurns(turns));
    this.performances.push(performance);
    return performance;
  }

  private async refill(performance: Performance, place: number, { run, snapshot, turns }: DrivenRun): Promise<AnyStep> {
    const { agent, sessionId, steps } = performance;
    const prepared = steps.length === 0 ? (this.prepared.get(sessionId) ?? this.stepsOfChild(snapshot.lineage)) : undefined;
    const script = performance.hasScript ? undefined : this.scripts.get(agent);
    if (prepared) {
      this.prepared.delete(sessionId);
      steps.push(...prepared);
    } else if (script) {
      performance.hasScript = true;
      const asked: ScriptedRun<AnyAgentTypes> = { sessionId, run, metadata: snapshot.metadata, text: lastText(turns) };
      steps.push(...(await script.next(asked)));
    }
    const step = steps[place];
    if (step) return step;
    if (this.scripts.has(agent)) throw new Error(`the script of ${agent} ends before run ${run} of session ${JSON.stringify(sessionId)} does`);
    const name = `run ${run} of session ${JSON.stringify(sessionId)}`;
    if (steps.length === 0) throw new Error(`${agent} has no script, and nothing is told of ${name}`);
    throw new Error(`${name} is told without its end: a text, an output or a failure`);
  }

  private stepsOfChild(lineage: DrivenRun["snapshot"]["lineage"]): readonly AnyStep[] | undefined {
    if (lineage?.origin !== "delegated") return undefined;
    const call = this.find(lineage.parentAgent, lineage.parentSessionId, lineage.parentCallId);
    return call?.subagent === undefined ? undefined : call.steps;
  }

  /** The call of an id, as the newest run that has one made it. */
  find(agent: string, sessionId: string, callId: string): AnyCall | undefined {
    for (const performance of this.of(agent, sessionId).toReversed()) {
      const call = performance.call(callId);
      if (call) return call;
    }
    return undefined;
  }

  private of(agent: string, sessionId: string): Performance[] {
    return this.performances.filter((performance) => performance.agent === agent && performance.sessionId === sessionId);
  }
}

function wholeTurns(turns: readonly Turn[]): number {
  return turns.filter((turn) => turn.role === "assistant" && turn.status !== "incomplete").length;
}

function callCount(turns: readonly Turn[]): number {
  return turns.reduce((count, turn) => (turn.role === "assistant" ? count + turn.content.filter(({ type }) => type === "tool_call").length : count), 0);
}

function lastText(turns: readonly Turn[]): string {
  const said = turns.findLast(({ role }) => role === "user");
  return said?.role === "user" ? said.content.map((block) => ("text" in block ? block.text : "")).join("") : "";
}
