/** An order as the shop knows it. */
export interface Order {
  status: string;
  total: number;
  currency: string;
}

const orders = new Map<string, Order>([
  ["A-1042", { status: "lost by the carrier", total: 750, currency: "USD" }],
  ["A-1043", { status: "on its way, and due on Friday", total: 89, currency: "USD" }],
  ["A-1044", { status: "lost by the carrier", total: 40, currency: "USD" }],
]);

/** What was paid back, by the key of the call that asked for it. */
const refunds = new Map<string, Order>();

/** Refunds above this need a person's approval. */
export const approvalFrom = 100;

/** Finds an order. What it throws is told to the model. */
export function findOrder(orderId: string): Order {
  const order = orders.get(orderId.toUpperCase());
  if (!order) throw new Error(`there is no order ${orderId}`);
  return order;
}

/** Pays an order back: once, however often the call with this key is tried. */
export function refund(orderId: string, idempotencyKey: string): Order {
  const order = refunds.get(idempotencyKey) ?? findOrder(orderId);
  refunds.set(idempotencyKey, order);
  return order;
}
