import type { Agent, AgentTypes } from "@orcha/contract";
import type { AgentClient } from "./agent-client.ts";
import { connectAgent } from "./connect-agent.ts";
import { connect } from "./connection.ts";
import { readOptions, type OrchaOptions } from "./options.ts";

/** The types of an agent, from its definition or from a plain interface of them. */
export type AgentTypesFrom<X> = X extends Agent<infer T> ? T : X extends AgentTypes ? X : never;

/** One client per agent, under the agents' keys. */
export type Orcha<A> = { readonly [K in keyof A]: AgentClient<AgentTypesFrom<A[K]>> };

/**
 * Connects to an Orcha server; nothing is sent until a method is called.
 * `A` is `typeof agents`, imported as a type, or a plain interface with the types of each agent.
 */
export function createOrcha<A extends object>(options: OrchaOptions<A>): Orcha<A> {
  const settings = readOptions(options);
  const connection = connect(settings);
  const clients = new Map<string, AgentClient>();

  function agentClient(key: string): AgentClient {
    let client = clients.get(key);
    if (!client) {
      const agents = settings.agents;
      client = connectAgent(connection, key, agents && Object.hasOwn(agents, key) ? agents[key]?.definition : undefined);
      clients.set(key, client);
    }
    return client;
  }

  // Frozen, so that no key can be set.
  const proxy = new Proxy<object>(Object.freeze(Object.create(prototype) as object), {
    get: (target, key) => (isAgentKey(key) ? agentClient(key) : Reflect.get(target, key)),
    has: (target, key) => isAgentKey(key) || Reflect.has(target, key),
  });
  // Which agents exist is known to the types alone: any key may be one, and the server has the last word.
  return proxy as Orcha<A>;
}

/** What consoles show of the proxy, which has no keys of its own. */
const prototype: object = Object.freeze({ [Symbol.toStringTag]: "Orcha" });

/** Keys that no agent can have: promises, consoles, serializers and React read them of any object. */
const reservedKeys = /^(then|catch|finally|toJSON|prototype|inspect|\$\$typeof)$/;

function isAgentKey(key: string | symbol): key is string {
  if (typeof key !== "string" || reservedKeys.test(key)) return false;
  // Every object has these, and tools call them without asking: `orcha.hasOwnProperty("x")`, `toString`, `constructor`.
  return !(key in Object.prototype) && /^[A-Za-z_$][\w$]{0,63}$/.test(key);
}
