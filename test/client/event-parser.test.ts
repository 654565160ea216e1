import { createParser } from "eventsource-parser";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createEventParser } from "../../packages/client/src/event-parser.ts";

interface Heard {
  name: string;
  data: string;
  id?: string;
}

/** What a parser has said after each piece of a stream. */
type Parse = (pieces: readonly string[]) => Heard[][];

const ours: Parse = (pieces) => {
  const heard: Heard[] = [];
  const parse = createEventParser((event) => heard.push(event));
  return pieces.map((piece) => {
    parse(piece);
    return [...heard];
  });
};

/** The parser of the field. It names an id once, where the standard keeps it for the events that follow. */
const reference: Parse = (pieces) => {
  const heard: Heard[] = [];
  let lastId: string | undefined;
  const parser = createParser({
    onId: (id) => (lastId = id),
    onEvent: ({ event, data }) => heard.push({ name: event ?? "message", data, ...(lastId === undefined ? {} : { id: lastId }) }),
  });
  return pieces.map((piece) => {
    parser.feed(piece);
    return [...heard];
  });
};

/** Text of lines, with whatever the format gives a meaning to. */
const words = fc.string({ unit: fc.constantFrom("a", "data", "id", "event", ":", " ", "é", "🙂", "{", "\0", "\uFEFF"), maxLength: 6 });

const fields = fc.tuple(fc.constantFrom("data", "data", "event", "id", "retry", "", "dat", "Data", "\uFEFFdata"), fc.constantFrom(":", ": ", ":  ", ""), words);

const lineEnds = fc.constantFrom("\n", "\r\n", "\r");

const lines = fc.tuple(
  fc.oneof(
    fields.map((parts) => parts.join("")),
    words,
    fc.constant(""),
    fc.constant(""),
  ),
  lineEnds,
);

const streams = fc
  .tuple(fc.constantFrom("", "", "\uFEFF", "\uFEFF\uFEFF"), fc.array(lines, { maxLength: 20 }), words)
  .map(([start, all, end]) => start + all.map((line) => line.join("")).join("") + end);

/** Cuts a text at any places, also in the midst of a character of two units, and into empty pieces. */
function cut(text: string, places: readonly number[]): string[] {
  const ends = [...places.map((place) => place % (text.length + 1)), text.length].sort((left, right) => left - right);
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

test("any stream, cut anywhere, says the same as to the parser of the field", () => {
  fc.assert(
    fc.property(streams, fc.array(fc.nat(), { maxLength: 12 }), (stream, places) => {
      const pieces = cut(stream, places);
      expect(ours(pieces)).toEqual(reference(pieces));
    }),
    { numRuns: 2000 },
  );
});

test("where a stream is cut makes no difference", () => {
  fc.assert(
    fc.property(streams, fc.array(fc.nat(), { maxLength: 12 }), (stream, places) => {
      expect(ours(cut(stream, places)).at(-1)).toEqual(ours([stream]).at(-1));
    }),
    { numRuns: 500 },
  );
});

test("what is written is read", () => {
  const written = fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), data: fc.jsonValue() });
  fc.assert(
    fc.property(fc.array(written), fc.array(fc.nat()), lineEnds, (events, places, end) => {
      const stream = events.map(({ name, data }) => [`event: ${name}`, `data: ${JSON.stringify(data)}`, ": alive", "", ""].join(end)).join("");
      const heard = ours(cut(stream, places)).at(-1);
      expect(heard?.map(({ name, data }) => ({ name, data: JSON.parse(data) as unknown }))).toEqual(JSON.parse(JSON.stringify(events)));
    }),
  );
});
