import pg from "pg";
import type { PostgresOptions } from "./postgres-connections.ts";
import { nameOf } from "./postgres-rows.ts";
import { News, type OnNews } from "./news.ts";
import type { SessionRef } from "./store.ts";

/** How long changes are gathered before the other servers are told, in milliseconds. */
const gatherMs = 10;

/** The most sessions that are named at once; more are "any". */
const maxNamed = 200;

/** How long the listening connection is away before it is opened again, in milliseconds. */
const reopenMs = 1000;

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
  private isReady = false;
  private isClosed = false;

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
    if (!this.isClosed) this.timer ??= setTimeout(() => void this.send(), gatherMs);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    await this.send();
    const { client } = this;
    this.client = undefined;
    await client?.end().catch(() => {});
  }

  private async send(): Promise<void> {
    this.timer = undefined;
    const names = [...this.changed];
    if (names.length === 0 || !this.client || !this.isReady) return;
    this.changed = new Set();
    const payloads = names.length > maxNamed ? [""] : names;
    const statement = { name: "notify", text: "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload" };
    await this.client.query({ ...statement, values: [this.channel, payloads] }).catch(() => {});
  }

  private open(): void {
    if (this.isClosed || this.client) return;
    const { connectionString, pool, connectTimeoutMs = 5000 } = this.options;
    const client = new pg.Client({
      application_name: "orcha news",
      ...pool,
      ...(connectionString === undefined ? {} : { connectionString }),
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
    });
    this.client = client;
    client.on("notification", ({ payload = "" }) => this.news.tell(readRef(payload)));
    const lost = (): void => {
      if (this.client !== client) return;
      this.client = undefined;
      this.isReady = false;
      client.end().catch(() => {});
      // What was said meanwhile is not known.
      setTimeout(() => {
        this.open();
        this.news.tell();
      }, reopenMs).unref();
    };
    client.on("error", lost);
    client.on("end", lost);
    client
      .connect()
      .then(() => client.query(`LISTEN ${client.escapeIdentifier(this.channel)}`))
      .then(() => {
        this.isReady = true;
        return this.send();
      })
      .catch(lost);
  }
}

/** Names that the index holds as digests can't be told: then any session may have changed. */
function readRef(payload: string): SessionRef | undefined {
  if (payload === "") return undefined;
  const [tenant = "", agent = "", sessionId = ""]: string[] = JSON.parse(payload);
  return [tenant, agent, sessionId].some((part) => part.startsWith("#")) ? undefined : { tenant, agent, sessionId };
}
