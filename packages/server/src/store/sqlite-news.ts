import type Database from "better-sqlite3";
import { News, type OnNews } from "./news.ts";
import type { SessionRef } from "./store.ts";

/** How often other processes' writes are looked for, in milliseconds. */
const lookMs = 200;

/** Tells of changes: its own process's at once, others' by the counter that SQLite keeps of them. */
export class SqliteNews {
  private readonly database: Database.Database;
  private readonly news = new News(() => this.start(), () => this.stop());
  private timer: ReturnType<typeof setInterval> | undefined;
  private version: unknown;

  constructor(database: Database.Database) {
    this.database = database;
  }

  listen(onNews: OnNews): () => void {
    return this.news.listen(onNews);
  }

  tell(ref: SessionRef): void {
    this.news.tell(ref);
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private start(): void {
    this.version = this.read();
    this.timer = setInterval(() => this.look(), lookMs);
    this.timer.unref();
  }

  private look(): void {
    try {
      const version = this.read();
      if (version === this.version) return;
      this.version = version;
      this.news.tell();
    } catch {
      // Busy for a moment: the next look sees it.
    }
  }

  /** Changes with each commit of another connection (https://www.sqlite.org/pragma.html#pragma_data_version). */
  private read(): unknown {
    return this.database.pragma("data_version", { simple: true });
  }
}
