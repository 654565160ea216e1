import { expect, test } from "vitest";
import { describeStores } from "../stores.ts";
import { approval, bedOf, eventsOf, monologue, typesOf, variables } from "./bed.ts";

describeStores("a run", (make) => {
  test("answers, and the log has every step", async () => {
    const { orcha, models, effects } = bedOf(await make(), {
      support: [
        { text: "Let me look.", toolCalls: [{ callId: "call_1", name: "lookup_order", arguments: { orderId: "A-1" } }] },
        { text: "It is lost.", usage: { inputTokens: 10, outputTokens: 3 } },
      ],
    });
    const run = orcha.supportAgent.run({ content: "Where is A-1?", name: "Order A-1", variables });
    expect(run.sessionId).toMatch(/^ses_/);
    const result = await run.result;
    expect(result).toMatchObject({ status: "completed", sessionId: run.sessionId, run: 1, output: "It is lost." });
    expect(await run.evaluations).toMatchObject([{ name: "response_quality", status: "passed", metrics: [{ name: "groundedness", score: 0.9, passed: true }] }]);
    expect(await typesOf(orcha, run.sessionId)).toEqual([
      "session.created",
      "run.started",
      "message.created",
      "message.created",
      "action.requested",
      "action.completed",
      "message.created",
      "message.created",
      "run.completed",
      "evaluation.requested",
      "evaluation.completed",
    ]);
    const history = await orcha.supportAgent.history(run.sessionId);
    expect(history.items.map(({ type }) => type)).toEqual(["message", "message", "action", "message", "evaluation"]);
    expect(history).toMatchObject({ name: "Order A-1", runStatus: "completed", lastOutput: "It is lost.", status: "active" });
    expect([...effects]).toEqual([[`${run.sessionId}:call_1`, 1]]);
    expect(models.supportAgent.requests[0]?.prompt[0]).toMatchObject({ role: "system", content: expect.stringContaining("You help Alice.") });
  });

  test("waits for a client action, and goes on with its answer", async () => {
    const { orcha, models } = bedOf(await make(), { support: approval });
    const run = orcha.supportAgent.run({ content: "Refund it", variables });
    const waiting = await run.result;
    expect(waiting).toMatchObject({
      status: "waiting_for_client_action",
      pendingClientActions: [{ callId: "call_ask", name: "request_human_approval", arguments: { amount: 750, currency: "USD" } }],
    });
    expect(await run.evaluations).toEqual([]);
    const history = await orcha.supportAgent.history(run.sessionId);
    expect(history).toMatchObject({ runStatus: "waiting_for_client_action", pendingClientActions: [{ callId: "call_ask" }] });
    await expect(orcha.supportAgent.resume(run.sessionId, "And?").result).resolves.toMatchObject({ status: "failed", error: { code: "client_action_required" } });

    const toolResults = [{ callId: "call_ask", output: { approved: true } }];
    const resumed = orcha.supportAgent.resume(run.sessionId, { toolResults });
    expect(await resumed.result).toMatchObject({ status: "completed", run: 1, output: "Done." });
    expect(models.supportAgent.requests).toHaveLength(2);
    const before = await eventsOf(orcha, run.sessionId);
    expect(await orcha.supportAgent.resume(run.sessionId, { toolResults }).result).toMatchObject({ status: "completed", run: 1, output: "Done." });
    expect(await orcha.supportAgent.resume(run.sessionId, { toolResults: [{ callId: "call_ask", output: { approved: false } }] }).result).toMatchObject({
      status: "failed",
      error: { code: "action_result_conflict" },
    });
    expect((await eventsOf(orcha, run.sessionId)).slice(0, before.length)).toEqual(before);
  });

  test("with a key of the caller's is one run, however often it is asked for", async () => {
    const { orcha, models } = bedOf(await make(), { support: [{ text: "Refunded." }, { text: "Refunded, too." }] });
    const refund = (key: string, content = "Refund it") => orcha.supportAgent.run({ content, variables }, { idempotencyKey: key });
    const both = [refund("refund/A-1"), refund("refund/A-1")];
    const results = await Promise.all(both.map(({ result }) => result));
    expect(results).toMatchObject([{ status: "completed", output: "Refunded." }, { status: "completed", output: "Refunded." }]);
    expect(new Set(both.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(await refund("refund/A-1", "Refund another").result).toMatchObject({ status: "failed", error: { code: "idempotency_conflict" } });
    expect(await refund("refund:A-1").result).toMatchObject({ status: "completed", output: "Refunded, too." });
    expect(await refund("k".repeat(255)).result).toMatchObject({ status: "failed", run: 1 });
    expect(models.supportAgent.requests).toHaveLength(3);
  });

  test("goes on with the conversation in the next run", async () => {
    const { orcha, models } = bedOf(await make(), { support: [{ text: "Hello, Alice." }, { text: "You are Alice." }, { text: "Still here." }] });
    const { sessionId, result } = orcha.supportAgent.run({ content: "Hi", variables });
    await result;
    expect(await orcha.supportAgent.resume(sessionId, "Who am I?").result).toMatchObject({ status: "completed", run: 2, output: "You are Alice." });
    expect(await orcha.supportAgent.resume(sessionId).result).toMatchObject({ run: 3 });
    const roles = models.supportAgent.requests.map(({ prompt }) => prompt.map(({ role }) => role).join(" "));
    expect(roles).toEqual(["system user", "system user assistant user", "system user assistant user assistant user"]);
    expect(models.supportAgent.requests[2]?.prompt.at(-1)).toMatchObject({ content: [{ type: "text", text: "Continue." }] });
  });

  test("streams what it says: the text grows, and the last frame is the result", async () => {
    const { orcha } = bedOf(await make(), { support: [{ text: "One, two, three, four, five.", chunkSize: 4, delayMs: 5 }] });
    const run = orcha.supportAgent.run({ content: "Count", variables });
    const frames = [];
    for await (const frame of run.stream) frames.push(frame);
    const texts = frames.flatMap((frame) => (frame.status === "streaming" ? [frame.output] : []));
    expect(texts.length).toBeGreaterThan(1);
    for (const [index, text] of texts.entries()) expect(text.startsWith(texts[index - 1] ?? "")).toBe(true);
    expect(frames.at(-1)).toEqual(await run.result);
    expect(run.snapshot).toEqual(await run.result);
  });

  test("is stopped at once, and keeps what it said", async () => {
    const { orcha } = bedOf(await make(), { support: [monologue] });
    const run = orcha.supportAgent.run({ content: "Talk", variables });
    for await (const frame of run.stream) if (frame.status === "streaming") break;
    const snapshot = await run.stop();
    expect(snapshot).toMatchObject({ status: "active", runStatus: "stopped" });
    const result = await run.result;
    expect(result).toMatchObject({ status: "stopped", output: expect.stringMatching(/^A very/) });
    const { items } = await orcha.supportAgent.history(run.sessionId);
    expect(items.at(-1)).toMatchObject({ type: "message", role: "assistant", incomplete: true });
  });

  test("fails as the provider said, and the session goes on", async () => {
    const { orcha } = bedOf(await make(), { support: [{ error: { message: "overloaded", statusCode: 400 } }, { text: "Back." }] });
    const run = orcha.supportAgent.run({ content: "Hi", variables });
    expect(await run.result).toMatchObject({ status: "failed", error: { code: "provider_error", message: expect.stringContaining("overloaded") } });
    expect(await orcha.supportAgent.get(run.sessionId)).toMatchObject({ runStatus: "failed", lastError: { code: "provider_error" } });
    expect(await orcha.supportAgent.resume(run.sessionId, "Again").result).toMatchObject({ status: "completed", output: "Back." });
  });

  test("delegates to a subagent's own session, linked both ways", async () => {
    const { orcha } = bedOf(await make(), {
      support: [{ toolCalls: [{ callId: "call_sub", name: "run_agent", arguments: { agent: "researcher", input: "Find it" } }] }, { text: "Found." }],
      researcher: [{ text: "It is in Berlin." }],
    });
    const run = orcha.supportAgent.run({ content: "Find it", variables });
    expect(await run.result).toMatchObject({ status: "completed", output: "Found." });
    const { items } = await orcha.supportAgent.history(run.sessionId);
    const item = items.find(({ type }) => type === "subagent");
    expect(item).toMatchObject({ name: "researcher", callId: "call_sub", status: "completed" });
    const childId = item?.type === "subagent" ? (item.childSessionId ?? "") : "";
    expect(await orcha.supportAgent.subagentHistory(childId)).toMatchObject({
      agent: "researcher",
      lineage: { origin: "delegated", parentAgent: "supportAgent", parentSessionId: run.sessionId, parentCallId: "call_sub" },
      items: [{ role: "user" }, { role: "assistant" }],
    });
    expect((await orcha.supportAgent.subagentEvents(childId)).events.length).toBeGreaterThan(3);
    await expect(orcha.researcher.subagentHistory(childId)).rejects.toMatchObject({ code: "session_not_found" });
    expect((await orcha.researcher.list()).items).toEqual([]);
  });

  test("answers structured output as the definition types it", async () => {
    const { orcha } = bedOf(await make(), { sorter: [{ text: '```json\n{"label":"bug"}\n```' }, { text: '{"label":"poem"}' }] });
    const result = await orcha.sorter.run("It crashes").result;
    expect(result).toMatchObject({ status: "completed", output: { label: "bug" } });
    if (result.status === "completed") result.output.label satisfies "bug" | "question";
    expect(await orcha.sorter.run("It crashes").result).toMatchObject({ status: "failed", error: { code: "provider_error" } });
  });

  test("loads a skill once, for the session's life", async () => {
    const { orcha, models } = bedOf(await make(), {
      support: [{ toolCalls: [{ name: "load_skill", arguments: { name: "incident_triage" } }] }, { text: "Calm." }, { text: "Still calm." }],
    });
    const run = orcha.supportAgent.run({ content: "Fire", variables });
    await run.result;
    await orcha.supportAgent.resume(run.sessionId, "More").result;
    const systems = models.supportAgent.requests.map(({ prompt }) => JSON.stringify(prompt[0]).includes("First, stay calm."));
    expect(systems).toEqual([false, true, true]);
    const { items } = await orcha.supportAgent.history(run.sessionId);
    expect(items.filter(({ type }) => type === "skill")).toMatchObject([{ name: "incident_triage", status: "completed" }]);
  });
});
