import { canonicalJson, OrchaError, type ErrorCode, type ErrorDetails } from "@orcha/contract";
import { refOf, type Call } from "./call.ts";
import type { SessionInput } from "./reading.ts";
import type { Surroundings } from "./surroundings.ts";
import { ReceiptExists } from "./store/conflict.ts";
import type { Receipt, SessionRef, Store } from "./store/store.ts";

/** How long a receipt answers for its write, in milliseconds: 24 hours. */
const lifetimeMs = 86_400_000;

/** How long a repeated call waits for the first one, in milliseconds. */
const attachMs = 5000;

/** How often a call looks again after another server was faster; the second look finds its receipt. */
const maxTries = 10;

type WantedReceipt = Pick<Receipt, "operation" | "sessionId" | "key" | "digest">;

/** What a receipt's outcome holds. */
type Answer<O> = { outcome: O } | { refusal: { code: ErrorCode; message: string; details?: ErrorDetails } };

/** Refusals that the same call would meet again; busy, limits and the server's faults may pass. */
function isFinal({ status, retryable, code }: OrchaError): boolean {
  return status >= 400 && status < 500 && !retryable && code !== "idempotency_conflict";
}

/** Makes the receipt that a write stores with what it changed; nothing for a call without a key. */
export type Seal<O> = (outcome: O) => Receipt | undefined;

/** Answers a repeated write with what the first one answered, and lets it change nothing. */
export class Idempotency {
  private readonly store: Store;
  private readonly surroundings: Surroundings;
  private readonly inFlight = new Map<string, Promise<unknown>>();

  constructor(store: Store, surroundings: Surroundings) {
    this.store = store;
    this.surroundings = surroundings;
  }

  /**
   * Looks for a receipt first, and performs the write where there is none. The key belongs to the input's session, whose
   * id is empty where the server makes it. Throws `idempotency_conflict` where the key came with another input,
   * `session_busy` where the first call takes too long.
   */
  async once<O>(call: Call, operation: string, input: SessionInput, perform: (seal: Seal<O>) => Promise<O>): Promise<O> {
    const { idempotencyKey: key, ifSequence } = call;
    if (key === undefined) return perform(() => undefined);
    const ref = refOf(call, input);
    const { sessionId } = ref;
    const digest = await this.surroundings.digest(canonicalJson({ ...input, ifSequence }));
    const name = JSON.stringify([ref.tenant, ref.agent, operation, sessionId, key]);
    const receiptKey = { operation, sessionId, key };
    for (let tries = 0; tries < maxTries; tries += 1) {
      await this.waitFor(name);
      const running = this.findOrPerform<O>(ref, { ...receiptKey, digest }, perform);
      const settled = running.then(noop, noop);
      this.inFlight.set(name, settled);
      try {
        return await running;
      } catch (error) {
        if (!(error instanceof ReceiptExists)) throw error;
      } finally {
        if (this.inFlight.get(name) === settled) this.inFlight.delete(name);
      }
    }
    throw new OrchaError("session_busy", "calls with this idempotency key keep coming between");
  }

  private async findOrPerform<O>(ref: SessionRef, wanted: WantedReceipt, perform: (seal: Seal<O>) => Promise<O>): Promise<O> {
    const found = await this.store.findReceipt(ref, wanted, this.surroundings.now() - lifetimeMs);
    // A receipt holds what the same operation answered.
    if (found) return this.answerOf(found, wanted) as O;
    try {
      return await perform((outcome) => this.receiptOf(wanted, { outcome }));
    } catch (error) {
      if (!(error instanceof OrchaError)) throw error;
      if (isFinal(error)) await this.keepRefusal(ref, wanted, error);
      // What the session is busy with may be this very call, which another server got.
      else if (error.code === "session_busy" && (await this.isAnswered(ref, wanted))) throw new ReceiptExists();
      throw error;
    }
  }

  private async isAnswered(ref: SessionRef, wanted: WantedReceipt): Promise<boolean> {
    const found = await this.store.findReceipt(ref, wanted, this.surroundings.now() - lifetimeMs).catch(() => undefined);
    return found !== undefined;
  }

  private answerOf(found: Receipt, wanted: WantedReceipt): unknown {
    if (found.digest !== wanted.digest) {
      throw new OrchaError("idempotency_conflict", "this idempotency key came with another input before");
    }
    const answer: Answer<unknown> = JSON.parse(found.outcome);
    if ("outcome" in answer) return answer.outcome;
    const { code, message, details } = answer.refusal;
    throw new OrchaError(code, message, details ? { details } : {});
  }

  private receiptOf(wanted: WantedReceipt, answer: Answer<unknown>): Receipt {
    return { ...wanted, outcome: JSON.stringify(answer), createdAt: this.surroundings.now() };
  }

  /**
   * Keeps a refusal as the answer. Throws `ReceiptExists` where the same call was answered meanwhile, by another server:
   * what looked like a conflict was its own success.
   */
  private async keepRefusal(ref: SessionRef, wanted: WantedReceipt, { code, message, details }: OrchaError): Promise<void> {
    // Snapshots are content, which receipts don't hold.
    const { snapshot: _snapshot, ...said } = details ?? {};
    const refusal = { code, message, ...(details ? { details: said } : {}) };
    try {
      await this.store.keepReceipt(ref, this.receiptOf(wanted, { refusal }));
    } catch (error) {
      // A store that can't keep it only costs the repetition; the refusal is the caller's answer either way.
      if (error instanceof ReceiptExists) throw error;
    }
  }

  private async waitFor(name: string): Promise<void> {
    const deadline = Date.now() + attachMs;
    for (let first = this.inFlight.get(name); first; first = this.inFlight.get(name)) {
      const left = deadline - Date.now();
      if (left <= 0) throw new OrchaError("session_busy", "the first call with this idempotency key is still running");
      await before(first, left);
    }
  }
}

function noop(): void {}

/** Waits for a promise, but not for longer than `milliseconds`. */
async function before(promise: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
}
