/** The time as a mock sees it: it stands still until a test moves it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now: () => number;
  /** Lets time pass: what runs goes on, and what waited too long expires. Resolves when the log says so. */
  advance: (milliseconds: number) => Promise<void>;
}

/** A clock for those who build the past. */
export interface SteeredClock {
  now: () => number;
  set: (time: number) => void;
}

/** Makes a clock that stands at a time. */
export function steeredClock(start: number): SteeredClock {
  let time = start;
  return {
    now: () => time,
    set: (wanted) => {
      time = wanted;
    },
  };
}

/** Reads a time as milliseconds since 1970. Throws a `TypeError` that names the field. */
export function readTime(time: string | number | Date, field: string): number {
  const read = typeof time === "number" ? time : new Date(time).getTime();
  if (Number.isFinite(read)) return read;
  throw new TypeError(`${field} must be a time, such as "2026-01-01T12:00:00.000Z"`);
}
