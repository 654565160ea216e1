import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { surroundings } from "../harness.ts";
import { describeStores } from "../stores.ts";
import { approval, bedOf, eventsOf, monologue, typesOf, variables } from "./bed.ts";
import { plugged } from "./plug.ts";

const slow = { text: "A very long answer indeed", chunkSize: 6, delayMs: 30 };

describeStores("interruptions", (make) => {
  test("pause keeps what was said, and resume goes on in a new run", async () => {
    const { orcha } = bedOf(await make(), { support: [monologue, { text: "Where were we?" }] });
    const run = orcha.supportAgent.run({ content: "Talk", variables });
    for await (const frame of run.stream) if (frame.status === "streaming") break;
    expect(await orcha.supportAgent.pause(run.sessionId)).toMatchObject({ status: "paused", runStatus: "paused" });
    expect(await run.result).toMatchObject({ status: "paused", output: expect.stringMatching(/^A very/) });
    expect((await typesOf(orcha, run.sessionId)).slice(-3)).toEqual(["message.created", "run.paused", "session.paused"]);
    const before = await eventsOf(orcha, run.sessionId);
    expect(await orcha.supportAgent.pause(run.sessionId)).toMatchObject({ status: "paused" });
    expect(await eventsOf(orcha, run.sessionId)).toEqual(before);
    expect(await orcha.supportAgent.resume(run.sessionId).result).toMatchObject({ status: "completed", run: 2 });
    expect(await orcha.supportAgent.get(run.sessionId)).toMatchObject({ status: "active", runStatus: "completed" });
  });

  test("pause lets the action at work finish, and starts no further one", async () => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const done: string[] = [];
    const calls = ["one", "two"].map((orderId) => ({ callId: orderId, name: "lookup_order", arguments: { orderId } }));
    const bed = bedOf(await make(), { support: [{ toolCalls: calls }] });
    const { orcha } = bedOf(await make(), {
      support: [{ toolCalls: calls }],
      implementations: {
        supportAgent: {
          model: bed.models.supportAgent,
          instructions: "x",
          actions: {
            lookup_order: async ({ orderId }) => {
              begin();
              await released;
              done.push(orderId);
              return { status: "sent" };
            },
            refund: () => ({}),
          },
          skills: { incident_triage: "x" },
          evaluations: { response_quality: async () => ({}) },
        },
      },
    });
    const run = orcha.supportAgent.run("Look");
    await begun;
    const pausing = orcha.supportAgent.pause(run.sessionId);
    // It waits for the action, which ends once the server surely has it.
    await sleep(200);
    release();
    expect(await pausing).toMatchObject({ status: "paused" });
    expect(await run.result).toMatchObject({ status: "paused" });
    expect(done).toEqual(["one"]);
    const { items } = await orcha.supportAgent.history(run.sessionId);
    expect(items).toMatchObject([{ type: "message" }, { type: "action", callId: "one", status: "completed" }]);
  });

  test("pause between two actions leaves none that looks as if it were at work", async () => {
    const store = await make();
    const calls = ["one", "two"].map((orderId) => ({ callId: orderId, name: "lookup_order", arguments: { orderId } }));
    let pausing: Promise<unknown> | undefined;
    // The result of the first action is written together with the request of the second.
    const pausable = new Proxy(store, {
      get(target, key, receiver): unknown {
        if (key !== "append") return Reflect.get(target, key, receiver);
        return async (...given: Parameters<typeof store.append>) => {
          const answer = await target.append(...given);
          const [ref] = given;
          if (pausing || !(await target.events(ref, 1, 100))?.some((body) => body.includes('"action.completed"'))) return answer;
          pausing = bed.orcha.supportAgent.pause(ref.sessionId);
          await sleep(100);
          return answer;
        };
      },
    });
    const bed = bedOf(pausable, { support: [{ toolCalls: calls }, { text: "One of them was sent." }] });
    const run = bed.orcha.supportAgent.run({ content: "Look", variables });
    expect(await run.result).toMatchObject({ status: "paused" });
    await pausing;
    const actions = async () => (await bed.orcha.supportAgent.history(run.sessionId)).items.filter(({ type }) => type === "action");
    const ended = [{ status: "completed" }, { status: "failed" }];
    expect(await actions()).toMatchObject(ended);
    const failure = (await eventsOf(bed.orcha, run.sessionId)).find(({ type }) => type === "action.failed");
    expect(failure).toMatchObject({ data: { error: { code: "aborted", message: "the run was paused before the action began" } } });
    expect(await bed.orcha.supportAgent.resume(run.sessionId).result).toMatchObject({ status: "completed", run: 2 });
    expect(await actions()).toMatchObject(ended);
    expect(bed.effects.size).toBe(1);
  });

  test("pause of a session that waits keeps its calls; answers make it active again", async () => {
    const { orcha } = bedOf(await make(), { support: approval });
    const { sessionId, result } = orcha.supportAgent.run({ content: "Refund", variables });
    await result;
    expect(await orcha.supportAgent.pause(sessionId)).toMatchObject({ status: "paused", runStatus: "paused", pendingClientActions: [{ callId: "call_ask" }] });
    expect(await orcha.supportAgent.resume(sessionId, "Hello?").result).toMatchObject({ status: "failed", error: { code: "client_action_required" } });
    const toolResults = [{ callId: "call_ask", output: { approved: true } }];
    expect(await orcha.supportAgent.resume(sessionId, { toolResults }).result).toMatchObject({ status: "completed", run: 1 });
    expect(await orcha.supportAgent.get(sessionId)).toMatchObject({ status: "active" });
    expect(await typesOf(orcha, sessionId)).toContain("session.resumed");
  });

  test("stop of a session that waits cancels its calls", async () => {
    const { orcha } = bedOf(await make(), { support: [approval[0] ?? {}, { text: "Fine." }] });
    const { sessionId, result } = orcha.supportAgent.run({ content: "Refund", variables });
    await result;
    expect(await orcha.supportAgent.stop(sessionId)).toMatchObject({ status: "active", runStatus: "stopped", pendingClientActions: [] });
    const { items } = await orcha.supportAgent.history(sessionId);
    expect(items.find(({ type }) => type === "client_action")).toMatchObject({ status: "failed", outcome: "cancelled" });
    const before = await eventsOf(orcha, sessionId);
    expect(await orcha.supportAgent.stop(sessionId)).toMatchObject({ runStatus: "stopped" });
    expect(await eventsOf(orcha, sessionId)).toEqual(before);
    expect(await orcha.supportAgent.resume(sessionId, "Never mind").result).toMatchObject({ status: "completed", run: 2 });
  });

  test("stop under a key and a sequence is one stop, however often it is sent", async () => {
    const { orcha } = bedOf(await make(), { support: [approval[0] ?? {}] });
    const { sessionId, result } = orcha.supportAgent.run({ content: "Refund", variables });
    await result;
    const { sequence } = await orcha.supportAgent.get(sessionId);
    const options = { idempotencyKey: "k", ifSequence: sequence };
    await orcha.supportAgent.stop(sessionId, options);
    const after = await eventsOf(orcha, sessionId);
    expect(await orcha.supportAgent.stop(sessionId, options)).toMatchObject({ runStatus: "stopped" });
    expect(await eventsOf(orcha, sessionId)).toEqual(after);
    await expect(orcha.supportAgent.stop(sessionId, { ifSequence: sequence })).rejects.toMatchObject({ code: "sequence_conflict" });
  });

  test("stop and pause reach a run of another server, which writes no more", async () => {
    const store = await make();
    for (const kind of ["stop", "pause"] as const) {
      const one = bedOf(plugged(store).store, { support: [monologue] });
      const two = bedOf(plugged(store).store, {});
      const run = one.orcha.supportAgent.run({ content: "Count", variables });
      // Something of the answer is stored.
      await expect.poll(async () => (await store.draft({ tenant: "default", agent: "supportAgent", sessionId: run.sessionId }))?.body).toMatch(/A very/);
      const snapshot = await two.orcha.supportAgent[kind](run.sessionId);
      expect(snapshot.runStatus).toBe(kind === "stop" ? "stopped" : "paused");
      const events = await eventsOf(two.orcha, run.sessionId);
      // What was stored of the answer is kept; what came after is not.
      expect(events.findLast(({ type }) => type === "message.created")).toMatchObject({ data: { role: "assistant", status: "incomplete", content: [{ text: expect.stringMatching(/^A very/) }] } });
      expect(await run.result).toMatchObject({ status: kind === "stop" ? "stopped" : "paused" });
      await sleep(300);
      expect(await eventsOf(two.orcha, run.sessionId)).toEqual(events);
    }
  });

  test("stop from another server doesn't repeat an answer that the log has, though its draft is stored still", async () => {
    const store = await make();
    // As a database leaves it that stores a draft behind its server's back, after the answer.
    const keeping = new Proxy(plugged(store).store, {
      get(target, key, receiver): unknown {
        if (key !== "append") return Reflect.get(target, key, receiver);
        return (...[of, lookups, decide, condition]: Parameters<typeof store.append>) =>
          target.append(of, lookups, (current) => {
            const { write, result } = decide(current);
            return write ? { write: { ...write, endsDraft: false }, result } : { result };
          }, condition);
      },
    });
    const look = { name: "lookup_order", arguments: { orderId: "A-1" } };
    const one = bedOf(keeping, { support: [{ text: "Let me look that up for you.", chunkSize: 4, delayMs: 100, toolCalls: [look] }, { text: "Sent.", delayMs: 60_000 }] });
    const run = one.orcha.supportAgent.run({ content: "Where is it?", variables });
    await expect.poll(() => one.models.supportAgent.requests.length).toBe(2);
    expect(await store.draft({ tenant: "default", agent: "supportAgent", sessionId: run.sessionId })).toBeDefined();
    const two = bedOf(plugged(store).store, {});
    await two.orcha.supportAgent.stop(run.sessionId);
    const { items } = await two.orcha.supportAgent.history(run.sessionId);
    expect(items.filter(({ type }) => type === "message")).toHaveLength(2);
  });

  test("stop that would overtake its run waits for it", async () => {
    const bed = bedOf(await make(), { support: [monologue, monologue] });
    const calls: string[] = [];
    const { orcha } = bedOf(await make(), {
      client: {
        async fetch(input, init) {
          const request = new Request(input, init);
          const operation = new URL(request.url).pathname.replace("/rpc/", "");
          // The longest way has the request that comes first.
          if (operation === "run" || operation === "resume") await sleep(100);
          calls.push(operation);
          return bed.service.app.fetch(request);
        },
      },
    });
    const run = orcha.supportAgent.run({ content: "Talk", variables });
    expect(await run.stop()).toMatchObject({ runStatus: "stopped" });
    expect(await run.result).toMatchObject({ status: "stopped" });
    const again = orcha.supportAgent.resume(run.sessionId, "Talk on");
    expect(await again.stop()).toMatchObject({ runStatus: "stopped" });
    expect(await again.result).toMatchObject({ status: "stopped", run: 2 });
    expect(calls).toEqual(["run", "stop", "resume", "stop"]);
  });

  test("delete ends the run, and what it still says goes nowhere", async () => {
    const { orcha } = bedOf(await make(), { support: [monologue] });
    const run = orcha.supportAgent.run({ content: "Talk", variables });
    for await (const frame of run.stream) if (frame.status === "streaming") break;
    await orcha.supportAgent.delete(run.sessionId);
    expect(await run.result).toMatchObject({ status: "failed", error: { code: "session_not_found" } });
    await expect(orcha.supportAgent.get(run.sessionId)).rejects.toMatchObject({ code: "session_not_found" });
  });

  test("a run holds its session: appends and other runs are busy, reads and names are not", async () => {
    const { promise: held, resolve: say } = Promise.withResolvers<void>();
    const { orcha, models } = bedOf(await make(), { support: [() => held.then(() => ({ text: "Done." }))], client: { retry: false } });
    const run = orcha.supportAgent.run({ content: "Talk", variables });
    await expect.poll(() => models.supportAgent.requests.length).toBe(1);
    const { sessionId } = run;
    await expect(orcha.supportAgent.append(sessionId, { messages: [{ role: "user", content: "x" }] })).rejects.toMatchObject({ code: "session_busy" });
    expect(await orcha.supportAgent.resume(sessionId, "And?").result).toMatchObject({ status: "failed", error: { code: "session_busy" } });
    await expect(orcha.supportAgent.fork(sessionId)).rejects.toMatchObject({ code: "session_busy" });
    await expect(orcha.supportAgent.complete(sessionId)).rejects.toMatchObject({ code: "session_busy" });
    expect(await orcha.supportAgent.update(sessionId, { name: "Talk" })).toMatchObject({ name: "Talk" });
    expect(await orcha.supportAgent.fork(sessionId, { throughSequence: 3 })).toMatchObject({ lineage: { origin: "forked" } });
    say();
    expect(await run.result).toMatchObject({ status: "completed" });
  });

  test("cancelling the stream leaves the run alone", async () => {
    const { orcha } = bedOf(await make(), { support: [slow] });
    const run = orcha.supportAgent.run({ content: "Talk", variables });
    const reader = run.stream.getReader();
    await reader.read();
    await reader.cancel();
    expect(await run.result).toMatchObject({ status: "completed", output: "A very long answer indeed" });
  });

  test("aborting the call stops listening, not the run", async () => {
    const { orcha } = bedOf(await make(), { support: [slow] });
    const controller = new AbortController();
    const run = orcha.supportAgent.run({ content: "Talk", variables }, { signal: controller.signal, idempotencyKey: "k" });
    for await (const frame of run.stream) if (frame.status === "streaming") break;
    controller.abort();
    await expect(run.result).rejects.toMatchObject({ code: "aborted" });
    await expect.poll(async () => (await orcha.supportAgent.get(run.sessionId)).runStatus).toBe("completed");
  });

  test("the same key attaches to the same run, also after it has ended", async () => {
    const { orcha, models } = bedOf(await make(), { support: [slow] });
    const input = { content: "Talk", variables, sessionId: "ses_mine" };
    const runs = ["k", "k", "k"].map((idempotencyKey) => orcha.supportAgent.run(input, { idempotencyKey }));
    const results = await Promise.all(runs.map(({ result }) => result));
    expect(results).toEqual([results[0], results[0], results[0]]);
    expect(results[0]).toMatchObject({ status: "completed" });
    const late = orcha.supportAgent.run(input, { idempotencyKey: "k" });
    expect(await late.result).toEqual(results[0]);
    expect(await late.evaluations).toEqual(await runs[0]?.evaluations);
    expect(models.supportAgent.requests).toHaveLength(1);
    expect(await orcha.supportAgent.run({ ...input, content: "Else" }, { idempotencyKey: "k" }).result).toMatchObject({ error: { code: "idempotency_conflict" } });
  });

  test("client actions expire, in their session's time", async () => {
    const clock = surroundings();
    const { orcha, service } = bedOf(await make(), {
      support: [
        { toolCalls: [{ callId: "a", name: "request_human_approval", arguments: { amount: 1, currency: "USD" } }] },
        { text: "Too late, then." },
        { toolCalls: [{ callId: "b", name: "pick_date", arguments: {} }] },
      ],
      app: { surroundings: clock },
    });
    const { sessionId, result } = orcha.supportAgent.run({ content: "Refund", variables });
    expect(await result).toMatchObject({ pendingClientActions: [{ expiresAt: "2026-09-28T12:01:00.000Z" }] });
    clock.advance(59_999);
    await service.sweep();
    expect(await orcha.supportAgent.get(sessionId)).toMatchObject({ runStatus: "waiting_for_client_action" });
    clock.advance(1);
    // An answer that comes too late is told so, swept or not.
    const late = await orcha.supportAgent.resume(sessionId, { toolResults: [{ callId: "a", output: { approved: true } }] }).result;
    expect(late).toMatchObject({ status: "failed", error: { code: "action_result_conflict", details: { outcome: "expired" } } });
    await expect.poll(async () => (await orcha.supportAgent.get(sessionId)).runStatus).toBe("completed");
    expect(await orcha.supportAgent.get(sessionId)).toMatchObject({ lastOutput: "Too late, then." });

    const second = await orcha.supportAgent.resume(sessionId, "A date?").result;
    expect(second).toMatchObject({ status: "waiting_for_client_action" });
    clock.advance(60_000);
    await service.sweep();
    expect(await orcha.supportAgent.get(sessionId)).toMatchObject({ runStatus: "failed", pendingClientActions: [], lastError: { message: expect.stringContaining("pick_date") } });
  });

  test("what expires in a session that rests leaves its run paused, for whoever listens again", async () => {
    const clock = surroundings();
    const ask = (callId: string) => ({ toolCalls: [{ callId, name: "request_human_approval", arguments: { amount: 1, currency: "USD" } }] });
    const { orcha, service } = bedOf(await make(), { support: [ask("a"), ask("b")], app: { surroundings: clock } });
    const input = { content: "Refund", variables, sessionId: "ses_resting" };
    const listenAgain = () => orcha.supportAgent.run(input, { idempotencyKey: "k" }).result;
    expect(await listenAgain()).toMatchObject({ status: "waiting_for_client_action" });
    await orcha.supportAgent.pause("ses_resting");
    expect(await listenAgain()).toMatchObject({ status: "waiting_for_client_action" });
    clock.advance(60_000);
    await service.sweep();
    expect(await listenAgain()).toMatchObject({ status: "paused", run: 1 });
    expect(await orcha.supportAgent.resume("ses_resting").result).toMatchObject({ status: "waiting_for_client_action", run: 2 });
    expect(await listenAgain()).toMatchObject({ status: "paused", run: 1 });
  });
});
