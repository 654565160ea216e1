import type { Agents } from "@orcha/contract";
import type { CorsOptions } from "../cors.ts";
import type { Implementations } from "../runs/implementation.ts";
import type { Store } from "../store/store.ts";
import type { BearerToken } from "../tokens.ts";

/** Where sessions are kept: a SQLite file, a Postgres database, or a store of your own. */
export type StoreConfig = { file: string } | { database: string; schema?: string } | (() => Store | Promise<Store>);

/** What the `orcha` command needs to know of a project. */
export interface OrchaConfig<A extends Agents = Agents> {
  agents: A;
  /** How the agents run here; one without an implementation runs elsewhere, and its sessions are kept all the same. */
  implementations?: Implementations<A>;
  store?: StoreConfig;
  /** Who may call what `orcha serve` serves; without it, everybody on this machine. */
  tokens?: readonly BearerToken[];
  /** Which pages of other origins may call; by default none. */
  cors?: CorsOptions;
  /** Whether callers that take gzip get it; by default those outside of the private network. */
  compress?: boolean;
  /** The largest file that is imported over HTTP, in bytes; default 10 GiB. */
  maxImportBytes?: number;
  /** Default 4310. */
  port?: number;
  /** Default 127.0.0.1. */
  hostname?: string;
}

/** Types the default export of `orcha.config.ts`: implementations fit their agents, or it doesn't compile. */
export function defineConfig<A extends Agents>(config: OrchaConfig<A>): OrchaConfig<A> {
  return config;
}
