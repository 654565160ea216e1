import { useLayoutEffect, useRef, type RefObject } from "react";

/** Closer to the end than this many pixels, a reader wants to see what comes. */
const nearEnd = 48;

/**
 * Keeps what a reader looks at where it is, whatever is put before it or behind it; at the end it stays at the end.
 * Browsers do the former by themselves, but not all of them, and none at the very top.
 */
export function useAnchoredScroll(list: RefObject<HTMLElement | null>): { onScroll: () => void } {
  const known = useRef<{ scrollTop: number; scrollHeight: number; anchor?: Element; top: number }>({ scrollTop: 0, scrollHeight: 0, top: 0 });

  function remember(): void {
    const element = list.current;
    if (!element) return;
    const { scrollTop, scrollHeight } = element;
    const { top } = element.getBoundingClientRect();
    const anchor = [...element.querySelectorAll("[data-item]")].find((item) => item.getBoundingClientRect().bottom > top);
    known.current = { scrollTop, scrollHeight, ...(anchor && { anchor }), top: anchor?.getBoundingClientRect().top ?? 0 };
  }

  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    const { scrollTop, scrollHeight, anchor, top } = known.current;
    // A reader may have scrolled without an event yet: where they are now counts, in what was there before.
    const scrolled = element.scrollTop - scrollTop;
    if (isNearEnd(element, scrollHeight) || isNearEnd(element, element.scrollHeight)) element.scrollTop = element.scrollHeight;
    else if (anchor?.isConnected === true) element.scrollTop += anchor.getBoundingClientRect().top - top + scrolled;
    remember();
  });

  return { onScroll: remember };
}

function isNearEnd({ scrollTop, clientHeight }: HTMLElement, scrollHeight: number): boolean {
  return scrollHeight - scrollTop - clientHeight < nearEnd;
}
