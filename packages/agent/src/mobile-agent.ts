import { OrchaError } from "@orcha/contract";
import type { AgentOptions } from "./agent-options.ts";
import { BaseAgent } from "./base-agent.ts";

/** An agent with its conversation, for apps: its model is an object, and nothing of Node's is needed. */
export class Agent extends BaseAgent {
  constructor(options: AgentOptions = {}) {
    super(options, {
      resolveModel: (name) => Promise.reject(noModel(name)),
      // The parser is larger than all the rest, and few apps have plain functions as tools.
      readParameters: { load: async () => (await import("./read-parameters.ts")).readParameters },
    });
  }
}

function noModel(name: string | undefined): OrchaError {
  const given = name === undefined ? "there is no model" : `the model ${JSON.stringify(name)} is a name, which only "@orcha/agent" resolves`;
  return new OrchaError("invalid_input", `${given}: give the agent a model of an AI SDK provider, or call setDefaultModel()`);
}
