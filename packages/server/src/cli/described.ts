import { describeAgents, type Definitions } from "../definitions.ts";
import { readDefinitions } from "../generate/read-definitions.ts";
import { surroundings } from "../surroundings.ts";
import { addressOf } from "./address.ts";
import type { OrchaConfig } from "./config.ts";
import { CommandFailure, wrongUsage } from "./failure.ts";
import { loadConfig } from "./load-config.ts";
import { readPage } from "./remote.ts";
import { serverOf } from "./target.ts";

/** The flags that say whose agents a client is for, and where it finds them. */
export interface DefinitionFlags {
  url?: string | undefined;
  token?: string;
  config?: string;
  baseUrl?: string;
}

/** A server's definitions, and the address that its clients call, where that is known. */
export interface Described {
  definitions: Definitions;
  baseUrl: string | undefined;
}

/** Reads the definitions of the server or the configuration that the flags name. */
export async function definitionsOf(flags: DefinitionFlags): Promise<Described> {
  const { url, config } = flags;
  const wanted = flags.baseUrl === undefined ? undefined : addressOf("--base-url", flags.baseUrl);
  if (url === undefined) return fromConfig(config, wanted);
  if (config !== undefined) throw wrongUsage("give --url or --config, not both");
  const server = serverOf(flags.token === undefined ? {} : { token: flags.token }, url);
  const definitions = readDefinitions(await readPage(server, "/api/agents"));
  if (!definitions) throw new CommandFailure(`${server.base} doesn't describe its agents as an Orcha server does`);
  return { definitions, baseUrl: wanted ?? server.base };
}

async function fromConfig(path: string | undefined, wanted: string | undefined): Promise<Described> {
  const config = await loadConfig(path);
  if (!config) throw wrongUsage("no agents are named: give --url http://…, or write orcha.config.ts");
  const described = await describeAgents(config.agents, (text) => surroundings.digest(text));
  // As JSON carries them, so that a server of this configuration gives the same module.
  const definitions = readDefinitions(JSON.parse(JSON.stringify(described)));
  if (!definitions) throw new CommandFailure("the agents of the configuration can't be described");
  return { definitions, baseUrl: wanted ?? addressIn(config) };
}

function addressIn({ hostname = "127.0.0.1", port = 4310 }: OrchaConfig): string | undefined {
  // Any port: which one it will be isn't known.
  if (port === 0) return undefined;
  const isEverywhere = hostname === "0.0.0.0" || hostname === "::";
  const name = isEverywhere ? "127.0.0.1" : hostname;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}
