import type { PendingActionOf } from "@orcha/client/react";
import type { Agent } from "@orcha/contract";
import { useId, useLayoutEffect, useRef, type ReactElement } from "react";
import type { agents } from "./agents.ts";
import { readRefund } from "./refund.ts";

type SupportAgent = (typeof agents)["supportAgent"] extends Agent<infer T> ? T : never;

interface Properties {
  pending: PendingActionOf<SupportAgent>;
  /** Called where the card goes while it has the focus. */
  onFocusLost: () => void;
}

/**
 * A refund that waits for a person. Whoever answers first, here or elsewhere, it goes. Nobody can approve what this page can't
 * show, but a person can refuse it, so that the conversation goes on.
 */
export function ApprovalCard({ pending, onFocusLost }: Properties): ReactElement {
  const approval = pending.name === "request_human_approval" ? pending : undefined;
  const refund = approval && readRefund(approval.arguments);
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
    <section ref={card} className="approval" aria-labelledby={id} aria-busy={pending.isAnswering}>
      <h2 id={id}>{refund ? "Approve a refund?" : "This page can’t show what is asked for"}</h2>
      {refund ? (
        <p>
          <strong>{refund.money}</strong> for order {refund.orderId}
        </p>
      ) : (
        <p>It can only be denied here: {pending.name}</p>
      )}
      {pending.error && <p role="alert">That didn’t work: {pending.error.message}</p>}
      <div className="buttons">
        {approval && refund && (
          <button type="button" aria-disabled={approval.isAnswering} onClick={() => void approval.answer({ approved: true })}>
            Approve
          </button>
        )}
        <button type="button" className="quiet" aria-disabled={pending.isAnswering} onClick={() => void pending.deny("a colleague said no")}>
          Deny
        </button>
      </div>
    </section>
  );
}
