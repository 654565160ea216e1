import { cutText, isPlainObject } from "@orcha/contract";

/**
 * A JSON value as far as it has room: a text that has none ends with an ellipsis, and so do a list and an object whose
 * rest is left out. What comes first is kept.
 */
export function excerpt(value: unknown, most: number): unknown {
  let room = most;

  function take(current: unknown): unknown {
    if (typeof current === "string") {
      const text = cutText(current, Math.max(1, room));
      room -= text.length;
      return text;
    }
    // A number, a bracket or a comma takes room, too.
    room -= 4;
    if (Array.isArray(current)) return takeList(current);
    return isPlainObject(current) ? takeObject(current) : current;
  }

  function takeList(list: readonly unknown[]): unknown[] {
    const taken: unknown[] = [];
    for (const entry of list) {
      if (room <= 0) return [...taken, "…"];
      taken.push(take(entry));
    }
    return taken;
  }

  function takeObject(object: Record<string, unknown>): Record<string, unknown> {
    const taken: [string, unknown][] = [];
    for (const [key, entry] of Object.entries(object)) {
      room -= key.length;
      if (room <= 0) return Object.fromEntries([...taken, ["…", "…"]]);
      taken.push([key, take(entry)]);
    }
    return Object.fromEntries(taken);
  }

  return take(value);
}
