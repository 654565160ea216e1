/** Calls a tool between a question and its answer. */
export interface ToolUse {
  callId: string;
  name: string;
  arguments: { orderId: string; question: string };
  result: { ok: boolean; body: string };
}

/** What a person said, and how the assistant answered. */
export interface Turn {
  number: number;
  /** Milliseconds since 1970. */
  at: number;
  question: string;
  tool?: ToolUse;
  answer: string;
  model: string;
  usage: { inputTokens: number; outputTokens: number };
}

/** Every so many turns, one uses a tool; so many turns are one cycle of the workload. */
export const cycle = 4;

/** How long a text is, in characters, which are all ASCII. */
const textLength = 200;
const firstTurnAt = 1_760_000_000_000;
const secondsPerTurn = 4;

/** Makes the turn of that number: the same for a session every time. */
export function turnOf(session: string, number: number): Turn {
  const random = randomNumbers(number * 7919 + session.length * 31 + 1);
  return {
    number,
    at: firstTurnAt + number * secondsPerTurn * 1000,
    question: prose(random, textLength),
    ...(usesTool(number) ? { tool: toolUse(random, session, number) } : {}),
    answer: prose(random, textLength),
    model: "m-1",
    usage: { inputTokens: 100 + (number % 900), outputTokens: 40 + (number % 60) },
  };
}

/** Tells whether the turn of that number calls a tool. */
export function usesTool(number: number): boolean {
  return number % cycle === cycle - 1;
}

/** The first turn of the kind from that number on. */
export function nextTurn(from: number, withTool: boolean): number {
  let number = from;
  while (usesTool(number) !== withTool) number += 1;
  return number;
}

function toolUse(random: () => number, session: string, number: number): ToolUse {
  return {
    callId: `call_${session}_${number}`,
    name: "lookup_order",
    arguments: { orderId: `o${number}`, question: prose(random, 150) },
    result: { ok: true, body: prose(random, 180) },
  };
}

const words = (
  "account amount answer balance branch budget change charge client commit date detail device error event field file " +
  "group history index invoice item key label line list lookup member message method month name note number offer order " +
  "owner page payment period plan policy price process product profile query quota record refund region release report " +
  "request result retry review role route rule sample scope search server session setting source stage start state step " +
  "store stream summary table target task team tenant test text ticket time title token topic total trace unit update"
).split(" ");

function prose(random: () => number, length: number): string {
  let text = "";
  while (text.length < length) text += `${words[Math.floor(random() * words.length)] ?? ""} `;
  return text.slice(0, length);
}

/** Numbers from 0 to 1 that follow from the seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
