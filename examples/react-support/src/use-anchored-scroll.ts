import { useEffect, useLayoutEffect, useRef, type RefObject } from "react";

/** Closer to the end than this many pixels, a reader wants to see what comes. */
const nearEnd = 48;

/** What was there when a reader was last known to be somewhere. */
interface Known {
  scrollTop: number;
  scrollHeight: number;
  clientHeight: number;
  clientWidth: number;
  anchor?: Element;
  top: number;
}

/**
 * Keeps what a reader looks at where it is, whatever is put before it or behind it; at the end it stays at the end, also
 * where the list gets smaller, as when a phone shows its keyboard.
 * Browsers do the former by themselves, but not all of them, and none at the very top.
 */
export function useAnchoredScroll(list: RefObject<HTMLElement | null>): { onScroll: () => void } {
  const known = useRef<Known>({ scrollTop: 0, scrollHeight: 0, clientHeight: 0, clientWidth: 0, top: 0 });

  function remember(): void {
    const element = list.current;
    if (!element) return;
    const { scrollTop, scrollHeight, clientHeight, clientWidth } = element;
    const { top } = element.getBoundingClientRect();
    const anchor = [...element.querySelectorAll("[data-item]")].find((item) => item.getBoundingClientRect().bottom > top);
    known.current = { scrollTop, scrollHeight, clientHeight, clientWidth, ...(anchor && { anchor }), top: anchor?.getBoundingClientRect().top ?? 0 };
  }

  function settle(): void {
    const element = list.current;
    if (!element) return;
    const { scrollTop, anchor, top, ...before } = known.current;
    // A reader may have scrolled without an event yet: where they are now counts, in what was there before.
    const scrolled = element.scrollTop - scrollTop;
    if (isNearEnd({ ...before, scrollTop: element.scrollTop }) || isNearEnd(element)) element.scrollTop = element.scrollHeight;
    else if (anchor?.isConnected === true) element.scrollTop += anchor.getBoundingClientRect().top - top + scrolled;
    remember();
  }

  function onScroll(): void {
    const { clientHeight, clientWidth } = known.current;
    // Of a list that has got another size the event comes before the observer: where it is now says nothing of its reader.
    if (list.current?.clientHeight === clientHeight && list.current.clientWidth === clientWidth) remember();
    else settle();
  }

  useLayoutEffect(settle);

  useEffect(() => {
    if (!list.current) return undefined;
    // It reads refs alone, so that the first one does for all.
    const observer = new ResizeObserver(settle);
    observer.observe(list.current);
    return () => observer.disconnect();
  }, [list]);

  return { onScroll };
}

function isNearEnd({ scrollTop, clientHeight, scrollHeight }: Pick<Known, "scrollTop" | "clientHeight" | "scrollHeight">): boolean {
  return scrollHeight - scrollTop - clientHeight < nearEnd;
}
