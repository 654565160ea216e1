import { defineAgent, defineAgents, type Agents } from "@orcha/contract";
import { allScopes, principalFault, type Principal } from "../auth.ts";
import type { Call } from "../call.ts";
import type { ExportSource } from "../export-source.ts";
import type { Store } from "../store/store.ts";
import { addressOf } from "./address.ts";
import type { OrchaConfig } from "./config.ts";
import { wrongUsage } from "./failure.ts";
import { loadConfig } from "./load-config.ts";
import { chosenStore, openStore, type StoreFlags } from "./open-store.ts";
import { answerOver, callRpc, type Answer, type Server } from "./remote.ts";

/** The flags that say which sessions a command is about. */
export interface TargetFlags extends StoreFlags {
  config?: string;
  agent?: string;
  tenant?: string;
  url?: string;
  token?: string;
}

/** Something that holds sessions: a store that this process opened, or a server. */
export interface Target {
  agent: string;
  /** Where its HTTP interface is. */
  server: Server;
  /** Asks it, be it in this process. */
  answer: Answer;
  /** Runs end with this process. */
  isLocal: boolean;
  call<T>(operation: string, input: object): Promise<T>;
  /** What an export reads without a detour, where this is a store. */
  source?: ExportSource;
  close(): Promise<void>;
}

/** A store that this process opened. */
export interface LocalTarget {
  config: OrchaConfig | undefined;
  store: Store;
  /** Who this process is to the store. */
  call: Call;
}

/** What a command needs of what it opens. */
interface Needs {
  /** A misspelt file is not made. */
  mustExist?: boolean;
  /** The agent runs in this process; what a server runs, it says itself. */
  mustRun?: boolean;
}

/** Opens what the flags or the configuration name, for commands that work on a server as well. */
export async function openTarget(flags: TargetFlags, needs: Needs = {}): Promise<Target> {
  if (flags.url !== undefined) return openServer(flags, serverOf(flags, flags.url));
  const { config, store, call } = await openLocal(flags, needs);
  try {
    const agent = agentOf(flags, config);
    const agents = agentsOf(config, agent);
    const implementations = config?.implementations;
    const { createService } = await import("../app.ts");
    // The whole server but for its socket: the same checks, the same answers, the same runs.
    const service = createService({
      agents,
      store,
      auth: () => call.principal,
      onError: () => {},
      ...(implementations ? { implementations } : {}),
    });
    const answer: Answer = async (request) => service.app.fetch(request);
    const server: Server = { base: "http://orcha.local", token: undefined };
    const { storeSource } = await import("../export-source.ts");
    return {
      agent,
      server,
      answer,
      isLocal: true,
      call: (operation, input) => callRpc(answer, server, operation, { agent, ...input }),
      source: storeSource({ agents, store }, call),
      close: async () => {
        // What a command leaves at work goes to whoever comes next.
        await service.drain(0);
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The server that the flags name. */
export function serverOf(flags: Pick<TargetFlags, "token">, url: string): Server {
  return { base: addressOf("--url", url), token: tokenOf(flags) };
}

/** What other programs set for the whole environment may be blank, and a file that it came from may end its lines with CR. */
function tokenOf({ token }: Pick<TargetFlags, "token">): string | undefined {
  const trimmed = token?.trim() ?? "";
  if (trimmed === "") return undefined;
  if (/^[\x21-\x7e]+$/.test(trimmed)) return trimmed;
  throw wrongUsage("--token, or ORCHA_TOKEN in the environment, must be visible ASCII characters without a space between them");
}

async function openServer(flags: TargetFlags, server: Server): Promise<Target> {
  const agent = agentOf(flags, flags.agent === undefined ? await loadConfig(undefined) : undefined);
  return {
    agent,
    server,
    answer: answerOver,
    isLocal: false,
    call: (operation, input) => callRpc(answerOver, server, operation, { agent, ...input }),
    close: async () => {},
  };
}

/** Opens the store that the flags or the configuration name. */
export async function openLocal(flags: TargetFlags, { mustExist = true, mustRun = false }: Needs = {}): Promise<LocalTarget> {
  const config = await loadConfig(flags.config);
  if (mustRun) checkRuns(agentOf(flags, config), config);
  const principal: Principal = { tenant: flags.tenant ?? "default", scopes: allScopes };
  const fault = principalFault(principal);
  if (fault !== undefined) throw wrongUsage(`--${fault}`);
  const store = await openStore(chosenStore(flags, config?.store), { mustExist });
  return { config, store, call: { principal } };
}

/** Says that nobody would answer, before anything is made. */
function checkRuns(agent: string, config: OrchaConfig | undefined): void {
  if (config?.implementations && Object.hasOwn(config.implementations, agent)) return;
  throw wrongUsage(`${agent} can't run here: give orcha.config.ts an implementation of it, or name a server that has one with --url`);
}

/** The agent that a flag names, or the only one there is. */
export function agentOf({ agent }: TargetFlags, config: OrchaConfig | undefined): string {
  if (agent !== undefined) return agent;
  const [only, ...others] = Object.keys(config?.agents ?? {});
  if (only !== undefined && others.length === 0) return only;
  const choice = only === undefined ? "--agent NAME" : `--agent ${only}, or ${others.join(", ")}`;
  throw wrongUsage(`say which agent: ${choice}`);
}

/** The project's agents; without a configuration whichever are named, since a store alone knows no definitions. */
export function agentsOf(config: OrchaConfig | undefined, ...named: readonly string[]): Agents {
  if (config) return config.agents;
  try {
    return defineAgents(Object.fromEntries(named.map((agent) => [agent, defineAgent({})])));
  } catch {
    throw wrongUsage(`--agent ${named.join()} can't be an agent's name`);
  }
}
