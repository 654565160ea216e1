import { useLayoutEffect, useRef, type RefObject } from "react";

/** Closer to the end than this many pixels, a reader wants to see what comes. */
const nearEnd = 48;

/**
 * Keeps what a reader looks at where it is, whatever is put before it or behind it; at the end it stays at the end.
 * Browsers do the former by themselves, but not all of them, and none at the very top.
 */
export function useAnchoredScroll(list: RefObject<HTMLElement | null>): { onScroll: () => void } {
  const isAtEnd = useRef(true);
  const anchor = useRef<{ element: Element; top: number } | undefined>(undefined);

  function remember(): void {
    const element = list.current;
    if (!element) return;
    isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd;
    const { top } = element.getBoundingClientRect();
    const visible = [...element.querySelectorAll("[data-item]")].find((item) => item.getBoundingClientRect().bottom > top);
    anchor.current = visible && { element: visible, top: visible.getBoundingClientRect().top };
  }

  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    const { current: kept } = anchor;
    if (isAtEnd.current) element.scrollTop = element.scrollHeight;
    else if (kept?.element.isConnected === true) element.scrollTop += kept.element.getBoundingClientRect().top - kept.top;
    remember();
  });

  return { onScroll: remember };
}
