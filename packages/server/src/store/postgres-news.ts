import { Socket } from "node:net";
import pg from "pg";
import type { PostgresOptions } from "./postgres-connections.ts";
import { nameOf } from "./postgres-rows.ts";
import { News, type OnNews } from "./news.ts";
import type { SessionRef } from "./store.ts";
import { within } from "./wait.ts";

/** How long changes are gathered before the other servers are told, in milliseconds. */
const gatherMs = 10;

/** The most sessions that are named at once; more are "any". */
const maxNamed = 200;

/** How long the listening connection is away before it is opened again, in milliseconds. */
const reopenMs = 1000;

/** How long the database has to take leave, in milliseconds. */
const goodbyeMs = 1000;

/*
 * Servers tell each other by NOTIFY (https://www.postgresql.org/docs/current/sql-notify.html) which sessions changed. It
 * is sent beside the writes, not within them: NOTIFY takes a lock at commit that would let one writer in after the other.
 * A notice that is lost costs a moment, since readers look by themselves now and then.
 */

/** Carries the news between the servers of one schema. */
export class PostgresNews {
  private readonly options: PostgresOptions;
  private readonly channel: string;
  private readonly news = new News(() => this.open());
  private changed = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** A connection of its own, for news both ways. */
  private client: pg.Client | undefined;
  private socket: Socket | undefined;
  private isReady = false;
  private isClosed = false;
  private sending: Promise<void> | undefined;

  constructor(options: PostgresOptions) {
    this.options = options;
    this.channel = `orcha_${options.schema ?? "orcha"}`.slice(0, 63);
  }

  listen(onNews: OnNews): () => void {
    return this.news.listen(onNews);
  }

  /** Tells this process now and the others soon. */
  tell(ref: SessionRef): void {
    this.news.tell(ref);
    if (this.changed.size <= maxNamed) this.changed.add(JSON.stringify(nameOf(ref)));
    this.open();
    this.gather();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.sending;
    await this.send();
    const { client } = this;
    this.client = undefined;
    if (!client) return;
    // A network that is gone answers no goodbye.
    await within(client.end().catch(() => {}), goodbyeMs);
    this.socket?.destroy();
  }

  private gather(): void {
    if (this.isClosed) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      // One at a time: what changes meanwhile goes with the next.
      this.sending ??= this.send().finally(() => {
        this.sending = undefined;
        if (this.changed.size > 0 && this.isReady) this.gather();
      });
    }, gatherMs);
  }

  private async send(): Promise<void> {
    const { client } = this;
    const names = [...this.changed];
    if (names.length === 0 || !client || !this.isReady) return;
    this.changed = new Set();
    const payloads = names.length > maxNamed ? [""] : names;
    const statement = { name: "notify", text: "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload" };
    await client.query({ ...statement, values: [this.channel, payloads] }).catch(() => this.lose(client));
  }

  private open(): void {
    if (this.isClosed || this.client) return;
    const { connectionString, pool, connectTimeoutMs = 5000, statementTimeoutMs = 10_000 } = this.options;
    const client = new pg.Client({
      application_name: "orcha news",
      ...pool,
      ...(connectionString === undefined ? {} : { connectionString }),
      connectionTimeoutMillis: connectTimeoutMs,
      // Nothing that it says takes long: without an answer the way is gone.
      query_timeout: statementTimeoutMs,
      keepAlive: true,
      stream: () => (this.socket = new Socket()),
    });
    this.client = client;
    client.on("notification", ({ payload = "" }) => this.news.tell(readRef(payload)));
    const lost = (): void => this.lose(client);
    client.on("error", lost);
    client.on("end", lost);
    client
      .connect()
      .then(() => client.query(`LISTEN ${client.escapeIdentifier(this.channel)}`))
      .then(() => {
        this.isReady = true;
        return this.gather();
      })
      .catch(lost);
  }

  private lose(client: pg.Client): void {
    if (this.client !== client) return;
    this.client = undefined;
    this.isReady = false;
    client.end().catch(() => {});
    // What was said meanwhile is not known.
    setTimeout(() => {
      this.open();
      this.news.tell();
    }, reopenMs).unref();
  }
}

/** Names that the index holds as digests can't be told: then any session may have changed. */
function readRef(payload: string): SessionRef | undefined {
  if (payload === "") return undefined;
  const [tenant = "", agent = "", sessionId = ""]: string[] = JSON.parse(payload);
  return [tenant, agent, sessionId].some((part) => part.startsWith("#")) ? undefined : { tenant, agent, sessionId };
}
