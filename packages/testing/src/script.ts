import type { AnyAgentTypes, Agents } from "@orcha/contract";
import { checkSteps } from "./scenario-fault.ts";
import type { Script, ScriptedRun } from "./scenario.ts";
import { isLast, type AnyStep } from "./step.ts";

/** A script whose types are forgotten. */
export type AnyScript = Script<AnyAgentTypes, Agents>;

/** Gives the runs of one agent their steps, in the order in which the runs start. */
export class RunScript {
  private readonly agents: Agents;
  private readonly agent: string;
  private readonly script: AnyScript;
  private readonly runs: readonly (readonly AnyStep[])[];
  private taken = 0;

  constructor(agents: Agents, agent: string, script: AnyScript) {
    this.agents = agents;
    this.agent = agent;
    this.script = script;
    this.runs = typeof script === "function" ? [] : split(script);
  }

  /** The steps of the next run. Throws where the list has no more runs. */
  async next(run: ScriptedRun<AnyAgentTypes>): Promise<readonly AnyStep[]> {
    if (typeof this.script === "function") {
      const given = await this.script(run);
      const steps: readonly AnyStep[] = Array.isArray(given) ? given : [given as AnyStep];
      checkSteps(steps, this.agents, this.agent, [this.agent, "script"]);
      return steps;
    }
    const steps = this.runs[this.taken];
    if (!steps) throw new Error(`the script of ${this.agent} has ${this.runs.length} runs, and this would be another one`);
    this.taken += 1;
    return steps;
  }
}

/** Each answer ends a run. */
function split(steps: readonly AnyStep[]): AnyStep[][] {
  const runs: AnyStep[][] = [];
  let isOpen = false;
  for (const step of steps) {
    if (isOpen) runs.at(-1)?.push(step);
    else runs.push([step]);
    isOpen = !isLast(step);
  }
  return runs;
}
