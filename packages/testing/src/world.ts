import { createOrcha, type AgentClient, type Orcha } from "@orcha/client";
import { OrchaError, type Agents, type AnyAgentTypes } from "@orcha/contract";
import { createService, memoryStore, type Authenticate, type Principal, type Service, type Surroundings } from "@orcha/server";
import { steeredClock, type Clock, type SteeredClock } from "./clock.ts";
import { hostedAgents, implementationsOf, type AnyScenario } from "./implementations.ts";
import { load } from "./load.ts";
import { Network, overWith } from "./network.ts";
import { Player } from "./player.ts";
import type { Recordings } from "./recordings.ts";
import { RunScript } from "./script.ts";

/** What a world is made of. */
export interface WorldParts {
  agents: Agents;
  scenario: AnyScenario;
  /** Milliseconds since 1970. */
  start: number;
  tenant: string;
  auth: Authenticate | undefined;
  /** The keys of writes that belong to an earlier life. */
  former: ReadonlySet<string>;
  recordings: Recordings;
}

/** Tells the server what a test lets happen to a request. Apps don't send it. */
const passHeader = "x-orcha-mock";
const inside = "inside";

/** How long a run may be silent, in milliseconds: the server's own default. */
const leaseMs = 10_000;

/** One life of a mock, from its fixtures to the next reset: a server on a store of its own, and the way to it. */
export class World {
  readonly network: Network;
  readonly clock: Clock;
  /** Settles when every fixture is there, or one can't be. */
  readonly ready: Promise<void>;
  private readonly parts: WorldParts;
  private readonly store = memoryStore();
  private readonly time: SteeredClock;
  private readonly ids = { sessions: 0 };
  private readonly surroundings: Partial<Surroundings>;
  private readonly player: Player;
  private readonly hosted: readonly string[];
  /** Tells conversations of agents that run elsewhere: they do here, until the test begins. */
  private readonly teller: Service;
  private service: Service;
  private readonly refusals: OrchaError[] = [];
  private readonly hung = new Map<string, () => void>();
  private isLoading = true;

  constructor(parts: WorldParts) {
    const { agents, scenario, start } = parts;
    this.parts = parts;
    this.network = new Network(parts.former);
    this.time = steeredClock(start);
    this.clock = { now: this.time.now, advance: (milliseconds) => this.advance(milliseconds) };
    this.surroundings = countingSurroundings(this.time, this.ids);
    this.player = new Player(scriptsOf(agents, scenario), {
      onStep: () => {
        if (this.isLoading) this.time.set(this.time.now() + 1000);
      },
      onHang: (sessionId) => this.hung.get(sessionId)?.(),
      onCut: (sessionId) => void this.network.cut(sessionId),
    });
    this.hosted = hostedAgents(agents, scenario);
    this.service = this.serve(this.hosted);
    this.teller = this.serve(Object.keys(agents));
    this.ready = this.load().finally(() => (this.isLoading = false));
    // Whoever asks for something is told of a fixture that can't be; nobody may ever ask.
    this.ready.catch(() => {});
  }

  /** Answers what comes through the network. */
  handle(url: URL, request: Request): Promise<Response> {
    return this.network.handle(url, request, async (passed, refusal) => {
      const fault = await this.fault();
      return this.enter(this.service, passed, fault ?? (this.network.isOver ? overWith() : refusal));
    });
  }

  /** Answers what comes beside the network: it is not noted, doesn't break, and may do everything. */
  async inside(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    return this.enter(this.service, new Request(input, init), (await this.fault()) ?? inside);
  }

  /** Ends the server as a deploy does, and starts another one on the same sessions. */
  async restart(): Promise<void> {
    await this.ready;
    const before = this.service;
    this.service = this.serve(this.hosted);
    await before.drain(0);
    await this.service.sweep();
  }

  /** Ends the streams. Answers the keys of all writes so far. */
  leave(): ReadonlySet<string> {
    return this.network.close();
  }

  /** Ends everything that is under way. */
  async end(): Promise<void> {
    this.leave();
    await this.ready.catch(() => {});
    await Promise.all([this.service.drain(0), this.teller.drain(0)]);
    await this.store.close();
  }

  private async advance(milliseconds: number): Promise<void> {
    if (!(milliseconds >= 0 && Number.isFinite(milliseconds))) throw new TypeError("a clock is advanced by milliseconds, 0 or more");
    await this.ready;
    await this.move(this.time.now() + milliseconds);
    await this.service.sweep();
  }

  /** Moves on as runs would that renew their leases while they work: time alone takes none of them away. */
  private async move(to: number): Promise<void> {
    const now = this.time.now();
    const due = await this.store.due({ what: "abandoned", agents: Object.keys(this.parts.agents), now: to + leaseMs, limit: Infinity });
    for (const ref of due) {
      const lease = (await this.store.read(ref, []))?.lease;
      if (lease && lease.until > now) await this.store.takeLease(ref, { owner: lease.owner, until: to + leaseMs, now });
    }
    this.time.set(to);
  }

  private serve(hosted: readonly string[]): Service {
    const { agents, scenario } = this.parts;
    const options = {
      agents,
      store: this.store,
      implementations: implementationsOf(agents, scenario, hosted, this.player),
      leaseMs,
      surroundings: this.surroundings,
      auth: (request: Request) => this.admit(request),
      // What a test lets fail is no news, nor is what its end cuts off.
      onError: (error: unknown) => {
        if (!this.network.isOver && !this.refusals.some((refusal) => refusal === error)) console.error("orcha: the mock failed", error);
      },
    };
    return createService(options, { modelFor: this.player.modelFor });
  }

  private async admit(request: Request): Promise<Principal | undefined> {
    const pass = request.headers.get(passHeader);
    const refusal = this.refusals[Number(pass ?? -1)];
    if (refusal) throw refusal;
    const { auth, tenant } = this.parts;
    if (auth && pass !== inside) return auth(request);
    return { tenant, scopes: ["read", "log", "run", "resolve", "write", "admin"] };
  }

  /** Sends a request to a server, which throws what is given, or lets it do everything. */
  private enter(service: Service, request: Request, pass: OrchaError | typeof inside | undefined): Response | Promise<Response> {
    if (pass !== undefined) request.headers.set(passHeader, pass === inside ? inside : String(this.refusals.push(pass) - 1));
    return service.app.fetch(request);
  }

  /** Why there are no fixtures, for whoever asks for one; nothing once they are there. */
  private async fault(): Promise<OrchaError | undefined> {
    return this.ready.then(
      () => undefined,
      (cause: unknown) => new OrchaError("execution_failed", cause instanceof Error ? cause.message : String(cause), { cause }),
    );
  }

  private async load(): Promise<void> {
    const { agents, scenario, tenant, recordings } = this.parts;
    const serviceOf = (agent: string): Service => (this.hosted.includes(agent) ? this.service : this.teller);
    const clients = new Map<string, AgentClient>();
    for (const agent of Object.keys(agents)) {
      const fetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => this.enter(serviceOf(agent), new Request(input, init), inside);
      const orcha: Orcha<Record<string, AnyAgentTypes>> = createOrcha({ baseUrl: "http://orcha.test", fetch, retry: false });
      const client = orcha[agent];
      if (client) clients.set(agent, client);
    }
    const start = this.time.now();
    await load(
      {
        agents,
        store: this.store,
        surroundings: this.surroundings,
        ids: this.ids,
        recordings,
        clock: this.time,
        player: this.player,
        tenant,
        clientOf: (agent) => {
          const client = clients.get(agent);
          if (!client) throw new TypeError(`there is no agent ${agent}`);
          return client;
        },
        sweep: (agent) => serviceOf(agent).sweep(),
        hung: (sessionId) => new Promise((resolve) => this.hung.set(sessionId, () => resolve(undefined))),
      },
      scenario,
    );
    await this.move(start);
  }
}

function scriptsOf(agents: Agents, scenario: AnyScenario): Map<string, RunScript> {
  const scripts = new Map<string, RunScript>();
  for (const [agent, { script } = {}] of Object.entries(scenario)) if (script !== undefined) scripts.set(agent, new RunScript(agents, agent, script));
  return scripts;
}

/** Ids that count, so that a test can name them. */
function countingSurroundings({ now }: SteeredClock, ids: { sessions: number }): Partial<Surroundings> {
  let requests = 0;
  return { now, sessionId: () => `ses_test_${(ids.sessions += 1)}`, requestId: () => `req_test_${(requests += 1)}` };
}
