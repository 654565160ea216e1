import { createSessions, exportSessions, importSessions, memoryStore, type Store } from "@orcha/server";
import { writeSessionLog } from "@orcha/formats";
import { expect, test } from "vitest";
import { agents } from "../agents.ts";
import { logOf } from "../arbitraries.ts";
import { corpusFile, textOf } from "../formats/reading.ts";
import { codeOf } from "../harness.ts";
import { describeStores } from "../stores.ts";
import { admin, everythingOf, leftovers, listed, load, put, refOf } from "./sessions.ts";

function says(count: number) {
  return logOf(Array.from({ length: count }, (_, index) => ({ type: "message.created", data: { role: "user", content: [{ type: "text", text: `m${index}` }] } })));
}

function logText(count: number): Promise<string> {
  return textOf(writeSessionLog(says(count)));
}

async function bundleOf(...ids: string[]): Promise<string> {
  const source = memoryStore();
  for (const id of ids) await put(source, refOf(id), says(3));
  return textOf(exportSessions({ agents, store: source }, admin, { agent: "supportAgent" }));
}

describeStores("an import", (make) => {
  test.each(["013-timestamps-equal-and-backwards", "019-torn-last-line", "023-crash-resume-no-rerun"])("takes %s", async (folder) => {
    const store = await make();
    const { sessions, events, totals } = await load(store, [corpusFile(folder)], { agent: "supportAgent" });
    const { history_items: items, events: expected, warnings = [] } = corpusExpectation(folder);
    expect(events).toBe(expected);
    expect(Object.keys(totals)).toEqual(expect.arrayContaining(warnings));
    const seen = await everythingOf(store, refOf(sessions[0]?.sessionId ?? ""));
    expect(seen.histories.at(-1)?.items).toHaveLength(items.length);
    expect(seen.snapshot.runStatus).toBe(folder.startsWith("023") ? "running" : "completed");
    const { writing } = createSessions(agents, store);
    const appended = await writing.append(admin, { agent: "supportAgent", sessionId: sessions[0]?.sessionId ?? "", messages: [{ role: "user", content: "And now?" }] });
    expect(appended.firstSequence).toBe(expected + 1);
  });

  test("of a damaged file writes nothing, and says the line", async () => {
    const store = await make();
    const lines = (await logText(1400)).split("\n");
    const damaged = lines.with(1200, "{").join("\n");
    await expect(load(store, damaged)).rejects.toMatchObject({ code: "invalid_input", message: "line 1201: is not JSON", details: { line: 1201 } });
    expect(await listed(store)).toEqual([]);
    expect(await leftovers(store)).toBe(0);
    expect((await load(store, lines.join("\n"))).events).toBe(1401);
  });

  test("of a cut bundle writes none of its sessions", async () => {
    const store = await make();
    const bundle = await bundleOf("ses_a", "ses_b");
    await expect(load(store, bundle.split("\n").slice(0, -3).join("\n"))).rejects.toMatchObject({ code: "invalid_input" });
    await expect(load(store, bundle.replace("m1", "m9"))).rejects.toThrow(/^line \d+: the digest differs/);
    expect(await listed(store)).toEqual([]);
    expect(await leftovers(store)).toBe(0);
    expect((await load(store, bundle)).sessions).toHaveLength(2);
  });

  test("is never done twice by accident", async () => {
    const store = await make();
    const log = await logText(3);
    await load(store, log);
    const again = load(store, log);
    await expect(again).rejects.toMatchObject({ code: "session_exists", message: expect.stringContaining("nothing was imported") });
    const copy = await load(store, log, { newIds: true });
    expect(copy.sessions).toMatchObject([{ formerId: "ses_test" }]);
    const copyId = copy.sessions[0]?.sessionId ?? "";
    expect((await listed(store)).toSorted()).toEqual([copyId, "ses_test"].toSorted());
    expect((await everythingOf(store, refOf(copyId))).events[0]).toMatchObject({ data: { sessionId: copyId } });
    // Nor after it was deleted: an id is never used again.
    await store.delete(refOf("ses_test"), 1);
    expect(await codeOf(load(store, log))).toBe("session_exists");
    expect((await load(store, log, { newIds: true })).sessions).toHaveLength(1);
    expect(await codeOf(load(store, log, { sessionId: "ses_other" }))).toBe("no error");
  });

  test("of copies makes delegated ones part of their own parent's copy", async () => {
    const store = await make();
    const lineage = { origin: "delegated" as const, parentAgent: "supportAgent", parentSessionId: "ses_parent", parentCallId: "call_1" };
    const delegation = { callId: "call_1", agent: "researcher", sessionId: "ses_child", status: "running" };
    await put(store, refOf("ses_parent"), logOf([{ type: "subagent.initiated", data: delegation }]));
    const [created, ...rest] = says(1);
    if (created?.type !== "session.created") throw new TypeError("a log starts with session.created");
    await put(store, refOf("ses_child", "researcher"), [{ ...created, data: { ...created.data, lineage } }, ...rest]);
    const bundle = await textOf(exportSessions({ agents, store }, admin, { agent: "supportAgent" }));
    const { sessions } = await load(store, bundle, { newIds: true });
    const [parent = "", child = ""] = sessions.map(({ sessionId }) => sessionId);
    expect(sessions).toMatchObject([{ formerId: "ses_parent" }, { formerId: "ses_child" }]);
    const { reading } = createSessions(agents, store);
    const copy = { agent: "researcher", sessionId: child };
    expect((await reading.get(admin, copy)).lineage).toEqual({ ...lineage, parentSessionId: parent });
    await store.delete(refOf("ses_parent"), 1);
    expect(await codeOf(reading.get(admin, { agent: "researcher", sessionId: "ses_child" }))).toBe("session_not_found");
    expect(await codeOf(reading.get(admin, copy))).toBe("no error");
    await store.delete(refOf(parent), 1);
    expect(await codeOf(reading.get(admin, copy))).toBe("session_not_found");
  });

  test("of one session that exists writes none of the others", async () => {
    const store = await make();
    await load(store, await bundleOf("ses_a"));
    expect(await codeOf(load(store, await bundleOf("ses_c", "ses_a", "ses_b")))).toBe("session_exists");
    expect(await listed(store)).toEqual(["ses_a"]);
    expect(await leftovers(store)).toBe(0);
  });

  test("loses against a session that came meanwhile", async () => {
    const store = await make();
    async function* slow() {
      yield await logText(600);
      await put(store, refOf("ses_test"), says(0));
    }
    expect(await codeOf(importSessions({ agents, store }, admin, slow()))).toBe("session_exists");
    expect((await everythingOf(store, refOf("ses_test"))).events).toHaveLength(1);
    expect(await leftovers(store)).toBe(0);
  });

  test("takes messages once", async () => {
    const store = await make();
    const messages = JSON.stringify([{ role: "user", content: "Hi" }]);
    const { sessions, format } = await load(store, messages, { agent: "supportAgent" });
    expect(format).toBe("messages");
    expect((await everythingOf(store, refOf(sessions[0]?.sessionId ?? ""))).messages).toEqual([{ role: "user", content: "Hi" }]);
    expect(await codeOf(load(store, ` ${messages}`, { agent: "supportAgent" }))).toBe("session_exists");
    expect((await load(store, messages, { agent: "supportAgent", newIds: true })).sessions).toHaveLength(1);
    expect(await codeOf(load(store, messages))).toBe("invalid_input");
    expect(await codeOf(load(store, messages, { agent: "supportAgent", sessionId: "../a" }))).toBe("invalid_input");
    expect(await codeOf(load(store, '[{"role":"robot"}]', { agent: "supportAgent" }))).toBe("history_invalid");
  });

  test("can be ended, with nothing left behind", async () => {
    const store = await make();
    const stop = new AbortController();
    const stopping = load(store, await logText(2000), { signal: stop.signal, onProgress: () => stop.abort(new Error("enough")) });
    await expect(stopping).rejects.toThrow("enough");
    expect(await listed(store)).toEqual([]);
    expect(await leftovers(store)).toBe(0);
  });

  test("clears away what a crashed one left, once it is silent for a minute, and no other", async () => {
    const store = await make();
    let now = Date.parse("2026-09-28T12:00:00.000Z");
    const parts = { agents, store, surroundings: { now: () => now } };
    // A crash removes nothing: neither does a store that is gone.
    await importSessions({ ...parts, store: gone(store) }, admin, [`${await logText(1200)}{`]).catch(() => {});
    await importSessions({ ...parts, store: gone(store) }, admin, [(await logText(1200)).replace("m900", "m900\\q")]).catch(() => {});
    const left = await leftovers(store);
    expect(left).toBeGreaterThan(0);
    now += 59_000;
    await load2(await bundleOf("ses_a"));
    expect(await leftovers(store)).toBe(left);
    now += 2000;
    await load2(await bundleOf("ses_b"));
    expect(await leftovers(store)).toBe(0);
    expect((await listed(store)).toSorted()).toEqual(["ses_a", "ses_b"]);

    async function load2(text: string) {
      return importSessions(parts, admin, [text]);
    }
  });

  test("that was silent for more than a minute may be cleared away, and then says so", async () => {
    const store = await make();
    let now = Date.parse("2026-09-28T12:00:00.000Z");
    const parts = { agents, store, surroundings: { now: () => now } };
    const lines = (await logText(1400)).split("\n").map((line) => `${line}\n`);
    async function* slow() {
      yield* lines.slice(0, 1200);
      now += 61_000;
      await importSessions(parts, admin, [await bundleOf("ses_a")]);
      yield* lines.slice(1200);
    }
    expect(await codeOf(importSessions(parts, admin, slow()))).toBe("aborted");
    expect(await listed(store)).toEqual(["ses_a"]);
    expect(await leftovers(store)).toBe(0);
  });

  test("is for admins", async () => {
    const store = await make();
    const writer = { principal: { ...admin.principal, scopes: ["write" as const] } };
    expect(await codeOf(importSessions({ agents, store }, writer, [await logText(1)]))).toBe("forbidden");
  });

  test.each([
    ["what is no such file", "hello", "unsupported_format"],
    ["nothing", "", "unsupported_format"],
    ["an unknown agent", '{"sequence":1,"type":"session.created","timestamp":"2026-05-04T09:00:05Z","data":{"sessionId":"ses_a","agent":"nobody"}}', "agent_not_found"],
    ["an id that none can have", '{"sequence":1,"type":"session.created","timestamp":"2026-05-04T09:00:05Z","data":{"sessionId":"../a","agent":"supportAgent"}}', "invalid_input"],
    ["a newer bundle", '{"format":"orcha-bundle","version":7}', "unsupported_format"],
  ])("refuses %s", async (_name, text, code) => {
    const store = await make();
    expect(await codeOf(load(store, text))).toBe(code);
    expect(await leftovers(store)).toBe(0);
  });
});

function corpusExpectation(folder: string): { history_items: unknown[]; events: number; warnings?: string[] } {
  const found: { expect: { history_items: unknown[]; events: number; warnings?: string[] } } = JSON.parse(
    new TextDecoder().decode(corpusFile(folder, "case.json")),
  );
  return found.expect;
}

/** A store that can no longer remove or publish anything. */
function gone(store: Store): Store {
  const fail = (): Promise<never> => Promise.reject(new Error("gone"));
  return { ...store, publish: fail, delete: (ref, at, condition) => (condition ? store.delete(ref, at, condition) : fail()) };
}
