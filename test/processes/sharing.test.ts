import { expect, test } from "vitest";
import { onTestFinished } from "vitest";
import type { TestClient } from "../harness.ts";
import { describePlaces } from "./places.ts";
import { clientAt, startServer, type Place } from "./process.ts";

async function twoServers(place: Place): Promise<[TestClient, TestClient]> {
  const [one, two] = await Promise.all([startServer(place), startServer(place)]);
  onTestFinished(async () => {
    await Promise.all([one.kill(), two.kill()]);
  });
  return [clientAt(one.url), clientAt(two.url)];
}

function message(content: string) {
  return { messages: [{ role: "user" as const, content }] };
}

async function contents(orcha: TestClient, sessionId: string): Promise<string[]> {
  return (await orcha.supportAgent.messages(sessionId)).map(({ content }) => content ?? "");
}

describePlaces("two server processes that share a database", (makePlace) => {
  test("64 writers of one session: nothing lost, nothing doubled, no hole", { timeout: 60_000 }, async () => {
    const [one, two] = await twoServers(await makePlace());
    const { sessionId } = await one.supportAgent.create();
    const texts = Array.from({ length: 64 }, (_, index) => `m${index}`);
    const receipts = await Promise.all(
      texts.map((text, index) => (index % 2 === 0 ? one : two).supportAgent.append(sessionId, message(text))),
    );
    expect(receipts.map(({ firstSequence }) => firstSequence).sort((a, b) => a - b)).toEqual(texts.map((_, index) => index + 2));
    const stored = await contents(two, sessionId);
    expect(stored.toSorted()).toEqual(texts.toSorted());
    for (const [index, { firstSequence }] of receipts.entries()) expect(stored[firstSequence - 2]).toBe(texts[index]);
    expect(await contents(one, sessionId)).toEqual(stored);
    expect(await one.supportAgent.get(sessionId)).toEqual(await two.supportAgent.get(sessionId));
  });

  test("64 writers of many sessions, each expecting its sequence", { timeout: 60_000 }, async () => {
    const [one, two] = await twoServers(await makePlace());
    await Promise.all(
      Array.from({ length: 64 }, async (_, index) => {
        const [here, there] = index % 2 === 0 ? [one, two] : [two, one];
        const { sessionId, sequence } = await here.supportAgent.create();
        const receipt = await there.supportAgent.append(sessionId, message("first"), { ifSequence: sequence });
        await here.supportAgent.append(sessionId, message("second"), { ifSequence: receipt.lastSequence });
        expect(await contents(there, sessionId)).toEqual(["first", "second"]);
      }),
    );
  });

  test("writers that expect the same sequence: one wins, the others get their conflict with the session as it is", async () => {
    const [one, two] = await twoServers(await makePlace());
    const { sessionId } = await one.supportAgent.create();
    const outcomes = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        (index % 2 === 0 ? one : two).supportAgent.append.safe(sessionId, message(`m${index}`), { ifSequence: 1 }),
      ),
    );
    expect(outcomes.filter(({ data }) => data !== undefined)).toHaveLength(1);
    const errors = outcomes.flatMap(({ error }) => error ?? []);
    expect(errors).toHaveLength(15);
    for (const error of errors) expect(error).toMatchObject({ code: "sequence_conflict", details: { snapshot: { sequence: 2 } } });
    expect((await one.supportAgent.events(sessionId)).total).toBe(2);
  });

  test("the same call sent to both at once: one event, and the same answer", async () => {
    const [one, two] = await twoServers(await makePlace());
    const { sessionId } = await one.supportAgent.create();
    const once = { idempotencyKey: "k", ifSequence: 1 };
    const receipts = await Promise.all(
      Array.from({ length: 16 }, (_, index) => (index % 2 === 0 ? one : two).supportAgent.append(sessionId, message("hi"), once)),
    );
    expect(new Set(receipts.map((receipt) => JSON.stringify(receipt))).size).toBe(1);
    expect((await two.supportAgent.events(sessionId)).total).toBe(2);
    const created = await Promise.all([one, two, one, two].map((orcha) => orcha.supportAgent.create({ name: "n", idempotencyKey: "c" })));
    expect(new Set(created.map((session) => session.sessionId)).size).toBe(1);
    const named = await Promise.all([one, two, one, two].map((orcha) => orcha.supportAgent.create({ sessionId: "mine", idempotencyKey: "d" })));
    expect(new Set(named.map((session) => JSON.stringify(session))).size).toBe(1);
  });

  test("an action requested on one and completed on the other is one item; an answer is given once", async () => {
    const [one, two] = await twoServers(await makePlace());
    const { sessionId } = await one.supportAgent.create();
    const call = { callId: "c", name: "lookup_order" };
    const approval = { callId: "a", name: "request_human_approval", arguments: { amount: 1, currency: "USD" } };
    await one.supportAgent.append(sessionId, { events: [{ type: "action.requested", data: { ...call, arguments: {} } }] });
    await two.supportAgent.append(sessionId, {
      events: [{ type: "action.completed", data: { ...call, output: 1 } }, { type: "client_action.requested", data: { calls: [approval] } }],
    });
    const results = await Promise.all(
      [one, two].map((orcha, index) =>
        orcha.supportAgent.resume(sessionId, { toolResults: [{ callId: "a", output: { approved: index === 0 } }] }).result,
      ),
    );
    expect(results.map(({ status }) => status).toSorted()).toEqual(["failed", "recorded"]);
    expect((await one.supportAgent.history(sessionId)).items).toMatchObject([
      { id: "action:c", status: "completed" },
      { id: "client-action:a", status: "completed", outcome: "answered" },
    ]);
    await two.supportAgent.delete(sessionId);
    expect((await one.supportAgent.get.safe(sessionId)).error?.code).toBe("session_not_found");
    expect((await one.supportAgent.append.safe(sessionId, message("late"))).error?.code).toBe("session_not_found");
  });
});
