import { ReceiptExists } from "./conflict.ts";
import { isReceiptTaken } from "./postgres-errors.ts";
import type { PostgresParts } from "./postgres-open.ts";
import { nameOf, receiptName } from "./postgres-rows.ts";
import { receiptLifetimeMs } from "./rows.ts";
import type { Receipt, ReceiptKey, SessionRef } from "./store.ts";

/** Finds a receipt that is no older than `since`. */
export async function findReceipt(
  { connections, statements }: PostgresParts,
  ref: Pick<SessionRef, "tenant" | "agent">,
  key: ReceiptKey,
  since: number,
): Promise<Receipt | undefined> {
  const [row] = await connections.query(statements.findReceipt, receiptName(ref, key));
  if (!row || row.created_at < since) return undefined;
  const { operation, sessionId } = key;
  return { operation, sessionId, key: key.key, digest: row.digest, outcome: row.outcome, createdAt: row.created_at };
}

/** Keeps a receipt that comes without a write. Throws `ReceiptExists`. */
export async function keepReceipt(parts: PostgresParts, ref: SessionRef, receipt: Receipt): Promise<void> {
  const { operation, sessionId, key, digest, outcome, createdAt } = receipt;
  const values = [...nameOf(ref), ...receiptName(ref, { operation, sessionId, key }).slice(2), digest, outcome, createdAt];
  const kept = await parts.connections.query(parts.statements.keepReceipt, [...values, createdAt - receiptLifetimeMs]);
  if (kept.length === 0) throw new ReceiptExists();
  await dropOld(parts, createdAt);
}

/** Runs a write that keeps a receipt, again where one of the same key is too old to count. Throws `ReceiptExists`. */
export async function keepingReceipt<T>(
  parts: PostgresParts,
  ref: SessionRef,
  receipt: Receipt | undefined,
  write: () => Promise<T>,
): Promise<T> {
  if (!receipt) return write();
  const written = await write().catch(async (error: unknown) => {
    if (!isReceiptTaken(error)) throw error;
    const before = receipt.createdAt - receiptLifetimeMs;
    const dropped = await parts.connections.query(parts.statements.dropReceipt, [...receiptName(ref, receipt), before]);
    if (dropped.length === 0) throw new ReceiptExists();
    return write();
  });
  await dropOld(parts, receipt.createdAt);
  return written;
}

/** Now and then is enough: an old receipt is never found, it only takes room. */
async function dropOld({ connections, statements }: PostgresParts, now: number): Promise<void> {
  if (Math.random() >= 1 / 256) return;
  // The write is done either way; the next one tries again.
  await connections.query(statements.dropOldReceipts, [now - receiptLifetimeMs]).catch(() => undefined);
}
