import type { AgentOptions } from "./agent-options.ts";
import { BaseAgent } from "./base-agent.ts";
import { resolveModel } from "./providers.ts";
import { readParameters } from "./read-parameters.ts";

/** An agent with its conversation; a model may be given by name. */
export class Agent extends BaseAgent {
  constructor(options: AgentOptions = {}) {
    super(options, { resolveModel, readParameters });
  }
}
