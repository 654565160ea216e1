import { OrchaError } from "@orcha/contract";
import { checkCondition } from "./condition.ts";
import { currentOf, Heads, knownAfter, newestPositions, type Head } from "./postgres-heads.ts";
import type { PostgresParts } from "./postgres-open.ts";
import { readHead } from "./postgres-read.ts";
import { keepingReceipt } from "./postgres-receipts.ts";
import { rowsOf } from "./postgres-rows.ts";
import { WriteStatement } from "./postgres-write.ts";
import { sessionColumns } from "./rows.ts";
import { sessionName } from "./session-name.ts";
import type { Current, Decision, Lease, SessionRef, SessionWrite, WriteCondition } from "./store.ts";
import { RecentNames } from "./recent-names.ts";
import { Turns } from "./turns.ts";
import { sleep } from "./wait.ts";

/** How often a write is tried while writers of other processes are faster. */
const maxTries = 50;

/*
 * An append reads the session and writes on top of it; the write holds only if the session hasn't moved in between.
 *
 *   held head? ── no ──▶ read ──▶ decide ──▶ write ──▶ moved? ── yes ──▶ done: hold the new head
 *       └─ yes ─────────────────────▲                     └─ no ──▶ read again
 *
 * What is refused on a held head, or writes nothing, is judged again on a fresh one: the session may have moved.
 */

/** Moves sessions on: one round trip where this process wrote last, else two. */
export class Appends {
  private readonly parts: PostgresParts;
  private readonly heads = new Heads();
  private readonly turns = new Turns();
  /** Sessions that another process writes too: there a held head would only cost a trip. */
  private readonly contested = new RecentNames(2000);

  constructor(parts: PostgresParts) {
    this.parts = parts;
  }

  /** Reads what a write starts from; it most likely follows. */
  async read(ref: SessionRef, lookups: readonly string[]): Promise<Current | undefined> {
    const head = await readHead(this.parts, ref, lookups);
    if (!head) return undefined;
    const held = this.heads.get(sessionName(ref));
    const isSame = held?.view.snapshot.sequence === head.view.snapshot.sequence;
    this.heads.set(sessionName(ref), isSame ? { ...head, known: new Map([...held.known, ...head.known]) } : head);
    return currentOf(head, lookups);
  }

  async append<T>(
    ref: SessionRef,
    lookups: readonly string[],
    decide: (current: Current) => Decision<T>,
    condition?: WriteCondition,
  ): Promise<{ result: T } | undefined> {
    const name = sessionName(ref);
    // Writers of this process would only be in each other's way.
    return this.turns.run(name, async () => {
      for (let tries = 0; tries < maxTries; tries += 1) {
        const held = this.contested.has(name) ? undefined : this.heads.get(name);
        // Taken out until the write is known to be done.
        this.heads.drop(name);
        const head = held ?? (await readHead(this.parts, ref, lookups));
        if (!head) return undefined;
        const decision = this.decide(head, held !== undefined, lookups, decide, condition);
        if (!decision) continue;
        const next = decision.write ? await this.move(ref, head, decision.write, held && lookups) : head;
        if (next) {
          this.heads.set(name, next);
          return { result: decision.result };
        }
        if (held) this.contested.add(name);
        if (tries > 1) await sleep(Math.random() * Math.min(50, 2 ** tries));
      }
      throw new OrchaError("session_busy", "other writes of this session keep coming between");
    });
  }

  /** Moves the lease of the head, if one is held. */
  leased(ref: SessionRef, lease: Lease): void {
    const head = this.heads.get(sessionName(ref));
    if (head) this.heads.set(sessionName(ref), { ...head, lease });
  }

  /** Ends the lease of the head, if one is held. */
  released(ref: SessionRef, fence: number, until: number): void {
    const lease = this.heads.get(sessionName(ref))?.lease;
    if (lease?.fence === fence) this.leased(ref, { ...lease, until });
  }

  /** Lets go of the head: the session is gone. */
  drop(ref: SessionRef): void {
    this.heads.drop(sessionName(ref));
  }

  /** Nothing where the head may be too old to say so. */
  private decide<T>(
    head: Head,
    isHeld: boolean,
    lookups: readonly string[],
    decide: (current: Current) => Decision<T>,
    condition: WriteCondition | undefined,
  ): Decision<T> | undefined {
    try {
      const current = currentOf(head, lookups);
      checkCondition(current, condition);
      const decision = decide(current);
      return isHeld && !decision.write ? undefined : decision;
    } catch (error) {
      if (isHeld) return undefined;
      throw error;
    }
  }

  /** Answers the head after the write; nothing where the session has moved. */
  private async move(ref: SessionRef, head: Head, write: SessionWrite, guarded?: readonly string[]): Promise<Head | undefined> {
    const { connections, tables } = this.parts;
    const row = sessionColumns(write.view);
    const newest = guarded && newestPositions(head.known, guarded);
    const { statement, values } = new WriteStatement(tables)
      .moveSession(head, write, row, newest)
      .receipt(ref, write.receipt)
      .draft(write)
      .metadata(
        ref,
        { snapshot: head.view.snapshot, updatedAt: head.updatedAt },
        { snapshot: write.view.snapshot, updatedAt: row.updatedAt },
      )
      .rows(rowsOf(write))
      .build();
    const [moved] = await keepingReceipt(this.parts, ref, write.receipt, () => connections.query(statement, values));
    if (!moved) return undefined;
    const known = knownAfter(head.known, write);
    const lease = write.lease ? { lease: write.lease } : {};
    return { ...head, ...lease, view: write.view, updatedAt: row.updatedAt, known, size: row.snapshot.length };
  }
}
