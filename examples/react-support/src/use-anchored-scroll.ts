import { useLayoutEffect, useRef, type RefObject } from "react";

/** Closer to the end than this many pixels, a reader wants to see what comes. */
const nearEnd = 48;

/**
 * Keeps what a reader looks at where it is, whatever is put before it or behind it; at the end it stays at the end.
 * Browsers do the former by themselves, but not all of them, and none at the very top.
 */
export function useAnchoredScroll(list: RefObject<HTMLElement | null>): { onScroll: () => void } {
  const known = useRef<{ isAtEnd: boolean; scrollTop: number; anchor?: Element; top: number }>({ isAtEnd: true, scrollTop: 0, top: 0 });

  function remember(): void {
    const element = list.current;
    if (!element) return;
    const { top } = element.getBoundingClientRect();
    const anchor = [...element.querySelectorAll("[data-item]")].find((item) => item.getBoundingClientRect().bottom > top);
    known.current = {
      isAtEnd: isNearEnd(element),
      scrollTop: element.scrollTop,
      ...(anchor && { anchor }),
      top: anchor?.getBoundingClientRect().top ?? 0,
    };
  }

  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    const { isAtEnd, scrollTop, anchor, top } = known.current;
    // A reader may have scrolled without an event yet: that stays, too.
    const scrolled = element.scrollTop - scrollTop;
    if (isAtEnd && (scrolled >= 0 || isNearEnd(element))) element.scrollTop = element.scrollHeight;
    else if (anchor?.isConnected === true) element.scrollTop += anchor.getBoundingClientRect().top - top + scrolled;
    remember();
  });

  return { onScroll: remember };
}

function isNearEnd({ scrollHeight, scrollTop, clientHeight }: HTMLElement): boolean {
  return scrollHeight - scrollTop - clientHeight < nearEnd;
}
