import type { HistoryItem, Orcha } from "@orcha/client";
import { expect, test } from "vitest";
import type { agents } from "../runs/agents.ts";
import { setting } from "./setting.ts";

type Support = Orcha<typeof agents>["supportAgent"];

const readers = 5;
const steps = 40;

/** Chance that is the same each time. */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

/** Reads as an app does: a page, older pages of the same view, and the tail behind it. Answers the list that it shows. */
async function read(support: Support, sessionId: string): Promise<{ shown: HistoryItem[]; faults: string[] }> {
  const shown: HistoryItem[] = [];
  const first = await support.history(sessionId, { pageSize: 3 });
  const { throughSequence, total } = first;
  for (let page = first; ; page = await support.history(sessionId, { page: page.page + 1, pageSize: 3, throughSequence })) {
    shown.unshift(...page.items);
    if (!page.hasMore) break;
  }
  expect(shown).toHaveLength(total);
  const faults: string[] = [];
  let sequence = throughSequence;
  for await (const frame of support.tail(sessionId, { after: throughSequence })) {
    if (frame.type === "item") {
      // A place is one that is there already, with the same item in it, or the next one.
      const there = shown[frame.position];
      if (frame.position > shown.length || (there && there.id !== frame.item.id)) faults.push(`${frame.item.id} at ${frame.position}`);
      shown[frame.position] = frame.item;
    }
    if (frame.type === "snapshot") {
      if (frame.snapshot.sequence < sequence) faults.push(`snapshot ${frame.snapshot.sequence} after ${sequence}`);
      ({ sequence } = frame.snapshot);
    }
    if (frame.type === "end") return { shown, faults };
  }
  throw new Error("the tail ended without saying so");
}

test("five readers that are cut at random show what the writer wrote, nothing twice and nothing out of order", { timeout: 30_000 }, async () => {
  const { mock, app } = await setting({ supportAgent: { sessions: [{ sessionId: "ses_1", messages: [{ role: "user", content: "0" }] }] } });
  const support = app.supportAgent;
  const random = chance(20_260_101);
  const reading: ReturnType<typeof read>[] = [];
  const waiting: string[] = [];
  let cuts = 0;
  for (let step = 0; step < steps; step += 1) {
    if (step % (steps / readers) === 0) reading.push(read(support, "ses_1"));
    if (random(3) === 0) mock.cutNext("tail", random(2) === 0 ? { afterFrames: random(4) } : { afterBytes: random(400) });
    const open = waiting.shift();
    if (open !== undefined) {
      await support.resume("ses_1", { toolResults: [{ callId: open, output: { approved: random(2) === 0 } }] }).result;
    } else if (random(2) === 0) {
      const callId = `call_${step}`;
      waiting.push(callId);
      const call = { callId, name: "request_human_approval", arguments: { amount: step, currency: "EUR" } };
      await support.append("ses_1", { events: [{ type: "client_action.requested", data: { calls: [call] } }] });
    } else {
      await support.append("ses_1", { messages: [{ role: "user", content: `message ${step}` }] });
    }
    if (random(2) === 0) cuts += mock.cut("ses_1");
    await new Promise((resolve) => setTimeout(resolve, random(6)));
  }
  await support.complete("ses_1");
  const lists = await Promise.all(reading);
  const truth: HistoryItem[] = [];
  for await (const page of mock.orcha.supportAgent.pages("ses_1", { pageSize: 100 })) truth.unshift(...page.items);
  expect(cuts).toBeGreaterThan(5);
  expect(truth.length).toBeGreaterThan(20);
  expect(lists).toHaveLength(readers);
  for (const { shown, faults } of lists) {
    expect(faults).toEqual([]);
    expect(shown).toEqual(truth);
  }
});
