import type { PendingActionOf } from "@orcha/client/react";
import type { Agent } from "@orcha/contract";
import { useId, useLayoutEffect, useRef, type ReactElement } from "react";
import type { agents } from "./agents.ts";

type SupportAgent = (typeof agents)["supportAgent"] extends Agent<infer T> ? T : never;
type Approval = Extract<PendingActionOf<SupportAgent>, { name: "request_human_approval" }>;

interface Properties {
  approval: Approval;
  /** Called where the card goes while it has the focus. */
  onFocusLost: () => void;
}

/** A model may name a currency in words, which no formatter takes. */
function moneyOf(amount: number, currency: string): string {
  const isCode = /^[A-Za-z]{3}$/.test(currency);
  return isCode ? amount.toLocaleString("en", { style: "currency", currency }) : `${amount.toLocaleString("en")} ${currency}`;
}

/** A refund that waits for a person. Whoever answers first, here or elsewhere, it goes. */
export function ApprovalCard({ approval, onFocusLost }: Properties): ReactElement {
  const { orderId, amount, currency } = approval.arguments;
  const id = useId();
  const card = useRef<HTMLElement>(null);
  const leave = useRef(onFocusLost);
  useLayoutEffect(() => {
    leave.current = onFocusLost;
  });
  useLayoutEffect(() => {
    const element = card.current;
    return () => {
      if (element?.contains(document.activeElement)) leave.current();
    };
  }, []);
  // Disabled buttons lose the focus: these only say that they are, and another click changes nothing.
  return (
    <section ref={card} className="approval" aria-labelledby={id} aria-busy={approval.isAnswering}>
      <h2 id={id}>Approve a refund?</h2>
      <p>
        <strong>{moneyOf(amount, currency)}</strong> for order {orderId}
      </p>
      {approval.error && <p role="alert">That didn’t work: {approval.error.message}</p>}
      <div className="buttons">
        <button type="button" aria-disabled={approval.isAnswering} onClick={() => void approval.answer({ approved: true })}>
          Approve
        </button>
        <button type="button" className="quiet" aria-disabled={approval.isAnswering} onClick={() => void approval.deny("a colleague said no")}>
          Deny
        </button>
      </div>
    </section>
  );
}
