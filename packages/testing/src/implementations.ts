import { scriptedModel } from "@orcha/agent/testing";
import type { Agents, AgentTypes, AnyAgentTypes, Metadata } from "@orcha/contract";
import type { Action, AgentImplementation, Evaluation, Implementations } from "@orcha/server";
import type { Player } from "./player.ts";
import type { AgentScenario } from "./scenario.ts";
import type { Scores } from "./step.ts";

/** A scenario whose types are forgotten. */
export type AnyScenario = Readonly<Record<string, AgentScenario<AnyAgentTypes> | undefined>>;

/** How long an action may take here: as long as the test wants it to, in milliseconds. */
const noLimitMs = 2_147_483_647;

/** Names the agents that run here: those with a script, and those that one of them may hand work to. */
export function hostedAgents(agents: Agents, scenario: AnyScenario): string[] {
  const scripted = Object.keys(agents).filter((key) => scenario[key]?.script !== undefined);
  return [...new Set([...scripted, ...scripted.flatMap((key) => agents[key]?.definition.subagents ?? [])])];
}

/** Makes every agent of the list one whose steps the player plays. */
export function implementationsOf(agents: Agents, scenario: AnyScenario, keys: readonly string[], player: Player): Implementations<Agents> {
  // The player gives each run its model; this one only names what the log calls it.
  const model = scriptedModel([]);
  return Object.fromEntries(
    keys.map((key) => {
      const { actions = {}, skills = {}, evaluations = {} } = agents[key]?.definition ?? {};
      const own = (scenario[key]?.actions ?? {}) as Readonly<Record<string, Action<unknown, unknown, unknown> | undefined>>;
      const usual = (scenario[key]?.evaluations ?? {}) as Readonly<Record<string, Scores | undefined>>;
      const implementation: AgentImplementation<AgentTypes> = {
        model,
        instructions: `You are ${key}, and say what a test's script says.`,
        settings: { maxRetries: 0 },
        actionTimeoutMs: noLimitMs,
        actions: mapped(actions, (name): Action<unknown, unknown, Metadata> => {
          const action = own[name];
          return (input, context) => player.act(key, name, context, action && (() => action(input, context)));
        }),
        skills: mapped(skills, (name) => `The skill ${name}.`),
        evaluations: mapped(evaluations, (name, { metrics }): Evaluation<object> => {
          return async ({ sessionId }) => player.scores(key, name, Object.keys(metrics), sessionId, usual[name]);
        }),
      };
      return [key, implementation];
    }),
  );
}

function mapped<Definition, Result>(definitions: Readonly<Record<string, Definition>>, make: (name: string, definition: Definition) => Result): Record<string, Result> {
  return Object.fromEntries(Object.entries(definitions).map(([name, definition]) => [name, make(name, definition)]));
}
