import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentMessage, EventInput, SessionHistory } from "@orcha/client";
import { expect, test } from "vitest";
import { clientOf } from "./harness.ts";
import { describeStores } from "./stores.ts";

const corpus = join(import.meta.dirname, "corpus");

function read<T>(folder: string, file: string): T {
  const value: T = JSON.parse(readFileSync(join(corpus, folder, file), "utf8"));
  return value;
}

interface Case {
  expect: {
    error: string;
    index: number;
    messages: number;
    warnings: string[];
    warning_refs: string[];
    normalized: Record<string, unknown>;
    history_total: number;
    history_pages: { pageSize: number; pages: number; last_page_items: number };
    steps: Record<string, { error_contains?: string; stored_arguments_verbatim?: string; must_not_contain_anywhere?: string }>;
  } & Record<string, { first: string; last: string; total?: number; hasMore: boolean }>;
}

describeStores("the corpus", (make) => {
  test.each(["001-orphan-after-trim", "004-result-before-call", "009-second-system-message"])("%s is refused", async (folder) => {
    const orcha = clientOf(await make());
    const { expect: expected } = read<Case>(folder, "case.json");
    const { error } = await orcha.supportAgent.restore.safe(read<AgentMessage[]>(folder, "input.json"));
    expect(error).toMatchObject({
      code: "history_invalid",
      message: expected.error,
      details: { index: expected.index, findings: [{ severity: "error", index: expected.index }] },
    });
    expect((await orcha.supportAgent.list()).items).toEqual([]);
  });

  test("007: a result without a name gets its call's", async () => {
    const orcha = clientOf(await make());
    const { expect: expected } = read<Case>("007-tool-message-without-name", "case.json");
    const { session, findings } = await orcha.supportAgent.restore(read<AgentMessage[]>("007-tool-message-without-name", "input.json"));
    expect(findings.map(({ code }) => code)).toEqual(expected.warnings);
    for (const ref of expected.warning_refs) expect(JSON.stringify(findings)).toContain(ref);
    const messages = await orcha.supportAgent.messages(session.sessionId);
    expect(messages).toHaveLength(expected.messages);
    expect(messages[2]?.name).toBe(expected.normalized["2.name"]);
  });

  test("011: values that JSON can't hold are refused before anything is written", async () => {
    const orcha = clientOf(await make());
    const { steps } = read<Case>("011-live-values-table", "case.json").expect;
    const live: Record<string, unknown> = {
      a: { big: 9007199254740993n },
      b: { score: Number.NaN },
      c: { openedAt: new Date("2026-03-01T10:00:00Z") },
    };
    for (const [step, metadata] of Object.entries(live)) {
      const { error } = await orcha.supportAgent.create.safe({ metadata: metadata as Record<string, never> });
      expect(error?.code).toBe("invalid_input");
      expect(error?.message).toContain(steps[step]?.error_contains);
    }
    expect((await orcha.supportAgent.list()).items).toEqual([]);

    const { sessionId } = await orcha.supportAgent.create();
    const pending: EventInput = { type: "client_action.requested", data: { calls: [{ callId: "call_a1", name: "approve", arguments: {} }] } };
    await orcha.supportAgent.append(sessionId, { events: [pending] });
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    let deep: unknown = {};
    for (let level = 0; level < 6000; level += 1) deep = { deep };
    for (const output of [cycle, { n: 1n }, deep]) {
      const { result } = orcha.supportAgent.resume(sessionId, { toolResults: [{ callId: "call_a1", output }] });
      expect(await result).toMatchObject({ status: "failed", error: { code: "invalid_input" } });
      const history = await orcha.supportAgent.history(sessionId);
      expect(history.pendingClientActions.map(({ callId }) => callId)).toEqual(["call_a1"]);
      expect(history.sequence).toBe(2);
    }
    const { result } = orcha.supportAgent.resume(sessionId, { toolResults: [{ callId: "call_a1", output: { approved: true } }] });
    expect(await result).toMatchObject({ status: "recorded" });
    expect((await orcha.supportAgent.history(sessionId)).items).toMatchObject([{ status: "completed" }]);
  });

  test("012: no view shows a long number of a call's arguments with other digits", async () => {
    const orcha = clientOf(await make());
    const { steps } = read<Case>("012-arguments-table", "case.json").expect;
    const step = read<{ steps: { id: string; input: AgentMessage[] }[] }>("012-arguments-table", "script.json").steps.find(({ id }) => id === "d");
    const { session, findings } = await orcha.supportAgent.restore(step?.input ?? []);
    expect(findings).toMatchObject([{ code: "arguments_not_exact", path: "[1].tool_calls[0].function.arguments" }]);
    const { sessionId } = session;
    const messages = await orcha.supportAgent.messages(sessionId);
    expect(messages[1]?.tool_calls?.[0]?.function.arguments).toBe(steps["d"]?.stored_arguments_verbatim);
    const { items } = await orcha.supportAgent.history(sessionId);
    expect(items[1]).toMatchObject({ type: "action", name: "find", status: "completed" });
    expect(items[1]).not.toHaveProperty("arguments");
    const views = JSON.stringify([items, messages, await orcha.supportAgent.events(sessionId), findings]);
    expect(views).not.toContain(steps["d"]?.must_not_contain_anywhere ?? "");
  });

  test("017: call and result are one item, so pages never split them", async () => {
    const orcha = clientOf(await make());
    const { expect: expected } = read<Case>("017-window-splits-pair", "case.json");
    const script = read<{ build: BuildStep[] }>("017-window-splits-pair", "script.json");
    const { session } = await orcha.supportAgent.restore(script.build.flatMap(build));
    expect(await orcha.supportAgent.messages(session.sessionId)).toHaveLength(expected.messages);
    const pages: SessionHistory[] = [];
    for await (const page of orcha.supportAgent.pages(session.sessionId, { pageSize: expected.history_pages.pageSize })) pages.push(page);
    expect(pages).toHaveLength(expected.history_pages.pages);
    expect(pages[0]?.total).toBe(expected.history_total);
    expect(pages.at(-1)?.items).toHaveLength(expected.history_pages.last_page_items);
    const ids = pages.flatMap(({ items }) => items.map(({ id }) => id));
    expect(new Set(ids).size).toBe(expected.history_total);
    expect(pages.flatMap(({ items }) => items).filter(({ type }) => type === "action")).toHaveLength(40);
  });

  test("020: pages drift towards repeats, never towards gaps; pinned ones don't drift", async () => {
    const orcha = clientOf(await make());
    const { expect: expected } = read<Case>("020-paging-while-appending", "case.json");
    const says = (number: number): AgentMessage => ({ role: number % 2 === 1 ? "user" : "assistant", content: `m${number}` });
    const { session } = await orcha.supportAgent.restore(Array.from({ length: 30 }, (_, index) => says(index + 1)));
    const { sessionId } = session;
    const page1 = await orcha.supportAgent.history(sessionId, { pageSize: 10 });
    await orcha.supportAgent.append(sessionId, { messages: [says(31), says(32), says(33)] });
    const seen = new Map<string, unknown>();
    const look = async (page: number, throughSequence?: number) => {
      const history = throughSequence === undefined ? { page, pageSize: 10 } : { page, pageSize: 10, throughSequence };
      return summary(await orcha.supportAgent.history(sessionId, history), seen);
    };
    expect(summary(page1, seen)).toMatchObject(expected["page1"] ?? {});
    expect(await look(2)).toMatchObject(expected["page2_unbounded"] ?? {});
    expect(await look(3)).toMatchObject(expected["page3_unbounded"] ?? {});
    expect(await look(4)).toMatchObject(expected["page4_unbounded"] ?? {});
    expect([...seen.values()].filter((text) => text !== undefined)).toHaveLength(30);
    const { note: _note, ...bounded } = { note: "", ...expected["page2_bounded"] };
    expect(await look(2, page1.throughSequence)).toMatchObject(bounded);
  });
});

/** What a page shows; every item seen twice must be the same. */
function summary(history: SessionHistory, seen: Map<string, unknown>) {
  const texts = history.items.map((item) => {
    expect(seen.get(item.id) ?? item).toEqual(item);
    seen.set(item.id, item);
    return item.type === "message" && item.content[0]?.type === "text" ? item.content[0].text : undefined;
  });
  return { first: texts[0], last: texts.at(-1), total: history.total, hasMore: history.hasMore };
}

type BuildStep = { push: AgentMessage } | { repeat: number; from: number; push: AgentMessage[] };

function build(step: BuildStep): AgentMessage[] {
  if (!("repeat" in step)) return [step.push];
  return Array.from({ length: step.repeat }, (_, index) => index + step.from).flatMap((number) => {
    const messages: AgentMessage[] = JSON.parse(JSON.stringify(step.push).replaceAll("{i}", String(number)));
    return messages;
  });
}
