import { ReceiptExists, sessionExists } from "./conflict.ts";
import type { PostgresParts } from "./postgres-open.ts";
import { findReceipt, keepingReceipt } from "./postgres-receipts.ts";
import { cutRows, rowsOf } from "./postgres-rows.ts";
import { WriteStatement } from "./postgres-write.ts";
import { receiptLifetimeMs, sessionColumns } from "./rows.ts";
import type { SessionRef, SessionWrite } from "./store.ts";

/** How many rows of a kind one statement adds, so that each ends in time. */
const batch = 5000;

/** Adds a session: one round trip, but for very long ones. Throws `session_exists` and `ReceiptExists`. */
export async function createSession(parts: PostgresParts, ref: SessionRef, write: SessionWrite): Promise<void> {
  const { connections, tables } = parts;
  const row = sessionColumns(write.view);
  const [first, ...more] = cutRows(rowsOf(write), batch);
  const statement = new WriteStatement(tables)
    .addSession(ref, write, row)
    .receipt(ref, write.receipt)
    .metadata(ref, undefined, { snapshot: write.view.snapshot, updatedAt: row.updatedAt });
  const { statement: adding, values } = (first ? statement.rows(first) : statement).build();

  const added = await keepingReceipt(parts, ref, write.receipt, async () => {
    if (more.length === 0) return connections.query(adding, values);
    return connections.transaction(async (query) => {
      const [session] = await query(adding, values);
      if (!session) return [];
      for (const rows of more) {
        const next = new WriteStatement(tables).session(session.key).rows(rows).build();
        await query(next.statement, next.values);
      }
      return [session];
    });
  });
  if (added.length > 0) return;
  // The same write may have been faster on another server: then its answer is this one's.
  const { receipt } = write;
  if (receipt && (await findReceipt(parts, ref, receipt, receipt.createdAt - receiptLifetimeMs))) throw new ReceiptExists();
  throw sessionExists(ref);
}
