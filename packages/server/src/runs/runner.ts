import type { LanguageModelV4 } from "@ai-sdk/provider";
import { resolveModel } from "@orcha/agent/providers";
import { faultOf, type LoopTool } from "@orcha/agent/loop";
import { formatPath, jsonSchemaOf, OrchaError, type Agent, type Agents, type EventInput, type Metadata, type StoredSnapshot, type Turn } from "@orcha/contract";
import { agentOf } from "../call.ts";
import { keysOf } from "../metadata.ts";
import type { OnError } from "../failure.ts";
import type { Lease, SessionRef, SessionWrite, Store } from "../store/store.ts";
import type { Surroundings } from "../surroundings.ts";
import { actionTool, clientActionTool } from "./action-tool.ts";
import type { Delegator } from "./delegating.ts";
import { Driver } from "./driver.ts";
import type { Evaluating } from "./evaluating.ts";
import type { AnyImplementation, AnyImplementations } from "./implementation.ts";
import { fillIn, joinParts, skillCatalogue } from "./instructions.ts";
import type { LeaseTerms } from "./lease-keeper.ts";
import { LiveRun } from "./live-run.ts";
import type { LiveRuns } from "./live-runs.ts";
import type { Reporting } from "./reporting.ts";
import { roundOf, type LastRun, type RunLog } from "./run-log.ts";
import { skillTool, Skills } from "./skills.ts";

/** Makes the tools by which an agent delegates; none for a session that was delegated itself. */
export type DelegationTools = (delegator: Delegator) => LoopTool[];

interface Parts {
  agents: Agents;
  implementations: AnyImplementations;
  store: Store;
  surroundings: Surroundings;
  live: LiveRuns;
  leases: LeaseTerms;
  onError: OnError;
  evaluating: Evaluating;
  reporting: Reporting;
  delegation: DelegationTools;
  modelFor: ModelFor | undefined;
}

/** An agent with how it is run. */
export interface ImplementedAgent {
  agent: Agent;
  implementation: AnyImplementation;
}

/** An agent that this server can run now. */
export interface HostedAgent extends ImplementedAgent {
  model: LanguageModelV4;
}

/** A run that is about to be driven, from its start or on from where its log ends. */
export interface DrivenRun {
  ref: SessionRef;
  run: number;
  snapshot: StoredSnapshot;
  /** The conversation so far. */
  turns: readonly Turn[];
}

/** Stands in for the agent's model in one run. */
export type ModelFor = (model: LanguageModelV4, run: DrivenRun) => LanguageModelV4;

/** Puts a run together from its log and drives it. */
export class Runner {
  private readonly parts: Parts;
  private readonly driver: Driver;
  private readonly models = new Map<string, Promise<LanguageModelV4>>();
  /** Agents whose operator knows that they can't be run. */
  private readonly unready = new Set<string>();

  constructor(parts: Parts) {
    this.parts = parts;
    this.driver = new Driver(parts.store, parts.surroundings, parts.leases.leaseMs, parts.onError);
  }

  isHosted(agent: string): boolean {
    return Object.hasOwn(this.parts.implementations, agent);
  }

  /** Finds how an agent is run, whether or not there is a model; nothing where it runs elsewhere. */
  implemented(key: string): ImplementedAgent | undefined {
    const implementation = this.isHosted(key) ? this.parts.implementations[key] : undefined;
    return implementation && { agent: agentOf(this.parts.agents, key), implementation };
  }

  /**
   * As `hosted`, for runs that are under way: nothing where this server can't go on with them, for want of the
   * implementation or of the model. The operator is told of the latter, once.
   */
  async ready(key: string): Promise<HostedAgent | undefined> {
    if (!this.isHosted(key)) return undefined;
    try {
      const hosted = await this.hosted(key);
      this.unready.delete(key);
      return hosted;
    } catch (error) {
      if (!this.unready.has(key)) this.parts.onError(error, { operation: `going on with runs of ${key}` });
      this.unready.add(key);
      return undefined;
    }
  }

  /** Finds how an agent is run. Throws `agent_not_found`, `invalid_input` where it runs elsewhere, `execution_failed` without a model. */
  async hosted(key: string): Promise<HostedAgent> {
    agentOf(this.parts.agents, key);
    const implemented = this.implemented(key);
    if (!implemented) {
      const message = `agent ${JSON.stringify(key)} has no implementation on this server: where it runs, log what it does with append()`;
      throw new OrchaError("invalid_input", message, { details: { path: "agent" } });
    }
    return { ...implemented, model: await this.modelOf(key, implemented.implementation) };
  }

  /** Says that a server drives a run, in the log's words. */
  started(run: number, agent: string, { model }: HostedAgent, clientCapabilities: string[], { fence }: Lease): EventInput {
    const { provider, modelId } = model;
    const data = { status: "running" as const, agent, provider, model: modelId, clientCapabilities, host: "server" as const, fence };
    return { type: "run.started", run, data };
  }

  /**
   * Drives the session's last run in the background, on from where its log ends: with the write that took the lease.
   * Whatever goes wrong here is for recovery, once the lease has run out.
   */
  drive(ref: SessionRef, run: number, lease: Lease, hosted: HostedAgent, log: RunLog, write: SessionWrite): LiveRun {
    const live = new LiveRun(run);
    this.parts.live.add(ref, live);
    void this.begin(ref, live, lease, hosted, log, write)
      .catch((error: unknown) => {
        this.parts.onError(error, { operation: "run", sessionId: ref.sessionId });
        live.end(undefined, Promise.resolve([]));
      })
      .finally(() => this.parts.live.remove(ref, live));
    return live;
  }

  private async begin(
    ref: SessionRef,
    live: LiveRun,
    lease: Lease,
    hosted: HostedAgent,
    before: RunLog,
    write: SessionWrite,
  ): Promise<void> {
    const { evaluating, reporting } = this.parts;
    const log = before.after(write);
    const { last } = log;
    if (last?.number !== live.number) throw new TypeError("the log has another last run");
    const { agent, implementation } = hosted;
    const { snapshot } = write.view;
    const { metadata } = snapshot;
    const model = this.parts.modelFor?.(hosted.model, { ref, run: live.number, snapshot, turns: log.turns }) ?? hosted.model;
    const skills = new Skills(implementation.skills ?? {}, log.loadedSkills);
    await skills.ready();
    const catalogue = skillCatalogue(agent.definition);
    const isChild = snapshot.lineage?.origin === "delegated";
    const delegation = this.parts.delegation({ ref, agent, implementation, variables: log.variables, isChild, last });
    const { output } = agent.definition;
    await this.driver.drive({
      ref,
      live,
      lease,
      input: {
        model,
        // A variable or a text that is missing by now fails the run there.
        instructions: () => joinParts([fillIn(implementation.instructions, log.variables), catalogue, ...skills.texts()]),
        turns: log.turns,
        tools: [...this.tools(ref, hosted, last, metadata), ...skillTool(skills), ...delegation],
        ...(output
          ? {
              output: {
                schema: jsonSchemaOf(output, [ref.agent, "output"], "output"),
                check: async (value: unknown) => {
                  const result = await output["~standard"].validate(value);
                  const issue = result.issues?.[0];
                  if (issue) return { fault: `${formatPath(keysOf(issue.path))} ${issue.message}`.trim() };
                  return { value: "value" in result ? result.value : value };
                },
              },
            }
          : {}),
        ...(implementation.settings ? { settings: implementation.settings } : {}),
        ...(implementation.maxRounds === undefined ? {} : { maxRounds: implementation.maxRounds }),
        resume: {
          round: roundOf(last, lease.fence),
          actionRounds: last.actionRounds,
          startedAt: last.startedAt,
          ...(last.usage ? { usage: last.usage } : {}),
          ...(last.open ? { open: last.open } : {}),
        },
      },
      onCompleted: () => evaluating.requests(hosted),
      evaluate: () => evaluating.evaluate(ref, hosted, live.number, metadata),
      onEnded: () => reporting.tell(ref, snapshot),
      onChildLeft: (child) => reporting.report(ref, child),
    });
  }

  private tools(ref: SessionRef, { agent, implementation }: ImplementedAgent, { clientCapabilities }: LastRun, metadata: Metadata): LoopTool[] {
    const { actions = {}, clientActions = {} } = agent.definition;
    const timeoutMs = implementation.actionTimeoutMs ?? 10_000;
    const tools: LoopTool[] = [];
    for (const [name, definition] of Object.entries(actions)) {
      const action = implementation.actions?.[name];
      if (action) tools.push(actionTool(name, definition, action, { agent: ref.agent, sessionId: ref.sessionId, metadata, timeoutMs }));
    }
    for (const [name, definition] of Object.entries(clientActions)) {
      if (!clientCapabilities || clientCapabilities.includes(name)) tools.push(clientActionTool(name, definition, ref.agent));
    }
    return tools;
  }

  private async modelOf(key: string, { model }: AnyImplementation): Promise<LanguageModelV4> {
    if (typeof model === "object") return model;
    const found = this.models.get(key) ?? resolveModel(model);
    this.models.set(key, found);
    try {
      return await found;
    } catch (cause) {
      this.models.delete(key);
      throw new OrchaError("execution_failed", faultOf(cause, "no model"), { cause });
    }
  }
}
