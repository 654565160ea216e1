/** What a person approves, in words. */
export interface Refund {
  orderId: string;
  money: string;
}

/**
 * Reads what a model asks a person to approve; nothing where that isn't what the definition says. A session's log holds what
 * its writers said: a server checks what its own models ask for, but not what an agent that runs elsewhere appends.
 */
export function readRefund(said: unknown): Refund | undefined {
  if (typeof said !== "object" || said === null) return undefined;
  if (!("orderId" in said && "amount" in said && "currency" in said)) return undefined;
  const { orderId, amount, currency } = said;
  if (typeof orderId !== "string" || typeof amount !== "number" || typeof currency !== "string") return undefined;
  return { orderId, money: moneyOf(amount, currency) };
}

/** A model may name a currency in words, which no formatter takes. */
function moneyOf(amount: number, currency: string): string {
  const isCode = /^[A-Za-z]{3}$/.test(currency);
  return isCode ? amount.toLocaleString("en", { style: "currency", currency }) : `${amount.toLocaleString("en")} ${currency}`;
}
