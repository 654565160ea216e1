import { mount } from "./mount.ts";
import { sessionsKey, useHistory, useRun, useSessions } from "@orcha/client/react";
import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { approval, monologue, variables } from "../runs/bed.ts";
import { latency, openedWith, serverOf, wordsOf } from "./server.ts";

test("sessions come page by page, the last changed first, each once however they move", async () => {
  const bed = serverOf();
  for (let index = 0; index < 7; index += 1) await openedWith(bed, 1);
  const made = (await bed.orcha.supportAgent.list()).items.map(({ sessionId }) => sessionId);
  const list = mount(() => useSessions(bed.orcha.supportAgent, { pageSize: 3 }));
  const ids = () => list.current.sessions.map(({ sessionId }) => sessionId);
  await expect.poll(() => list.all.at(-1)?.status).toBe("success");
  expect(ids()).toEqual(made.slice(0, 3));
  expect(list.current.hasMore).toBe(true);
  await list.current.fetchMore();
  await expect.poll(ids).toEqual(made.slice(0, 6));
  // The oldest becomes the newest, and pushes the others across the pages' borders.
  await latency();
  await bed.orcha.supportAgent.update(made[6] ?? "", { name: "Named" });
  await list.current.fetchMore();
  await expect.poll(() => list.current.hasMore).toBe(false);
  expect(ids()).toEqual(made.slice(0, 6));
  await list.current.refetch();
  await expect.poll(() => ids()[0]).toBe(made[6]);
  expect(new Set(ids()).size).toBe(7);
});

test("a list follows what this app does, what it shows, and what it is asked to look for", async () => {
  const bed = serverOf({ support: approval });
  const queryClient = new QueryClient();
  const list = mount(() => useSessions(bed.orcha.supportAgent, { pageSize: 10 }), { queryClient });
  const polled = mount(() => useSessions(bed.orcha.supportAgent, { runStatus: "completed", pollMs: 50 }));
  await expect.poll(() => list.all.at(-1)?.status).toBe("success");
  expect(list.current.sessions).toEqual([]);
  const started = mount(() => useRun(bed.orcha.supportAgent), { queryClient });
  await expect.poll(() => started.all.length).toBeGreaterThan(0);
  const sessionId = started.current.run({ content: "Refund, please", variables });
  const statusOf = () => list.current.sessions.find((session) => session.sessionId === sessionId)?.runStatus;
  await expect.poll(statusOf).toBe("waiting_for_client_action");
  const page = mount(() => useHistory(bed.orcha.supportAgent, sessionId), { queryClient });
  await expect.poll(() => page.all.at(-1)?.connection).toBe("live");
  void page.current.pendingClientActions[0]?.deny();
  await expect.poll(statusOf).toBe("completed");
  await expect.poll(() => polled.current.sessions.length).toBe(1);
  await bed.orcha.supportAgent.update(sessionId, { name: "Named" });
  await expect.poll(() => list.current.sessions[0]?.name).toBe("Named");
  await bed.orcha.supportAgent.delete(sessionId);
  await expect.poll(() => list.current.sessions).toEqual([]);
  expect(page.current.ended).toBe("deleted");
  await bed.orcha.supportAgent.create({ name: "Made aside" });
  await queryClient.invalidateQueries({ queryKey: sessionsKey(bed.orcha.supportAgent) });
  await expect.poll(() => list.current.sessions[0]?.name).toBe("Made aside");
});

test("a run gives its session at once, which can be shown before the server knows it", async () => {
  const bed = serverOf({ support: [{ text: "Hello, you", chunkSize: 3, delayMs: 20 }] });
  bed.intercept(async (operation) => {
    if (operation === "run") await new Promise((resolve) => setTimeout(resolve, 120));
    return latency();
  });
  const used = mount(
    (sessionId: string) => ({ run: useRun(bed.orcha.supportAgent), page: useHistory(bed.orcha.supportAgent, sessionId) }),
    { properties: "nowhere" },
  );
  await expect.poll(() => used.all.at(-1)?.page.status).toBe("error");
  const sessionId = used.current.run.run({ content: "Hello", variables });
  used.render(sessionId);
  await expect.poll(() => used.current.run.isRunning).toBe(true);
  expect(used.current.run.sessionId).toBe(sessionId);
  await expect.poll(() => used.current.page.connection).toBe("live");
  expect(used.all.filter(({ run, page }) => run.sessionId === sessionId && page.status === "error" && page.snapshot === undefined).length).toBeLessThanOrEqual(1);
  await expect.poll(() => used.current.run.evaluations).toMatchObject([{ name: "response_quality", status: "passed" }]);
  expect(used.current.run).toMatchObject({ isRunning: false, error: undefined, result: { status: "completed", output: "Hello, you" } });
  await expect.poll(() => used.current.page.items.map(wordsOf)).toEqual(["Hello", "Hello, you", "evaluation completed"]);
});

test("a run that is refused says why, and its session stays unknown", async () => {
  const bed = serverOf();
  const started = mount(() => useRun(bed.orcha.supportAgent));
  await expect.poll(() => started.all.length).toBeGreaterThan(0);
  started.current.run(" ");
  await expect.poll(() => started.current.result).toMatchObject({ status: "failed", error: { code: "invalid_input" } });
  expect(started.current).toMatchObject({ isRunning: false, error: undefined });
});

test("a run is stopped", async () => {
  const bed = serverOf({ support: [monologue] });
  const started = mount(() => useRun(bed.orcha.supportAgent));
  await expect.poll(() => started.all.length).toBeGreaterThan(0);
  const sessionId = started.current.run({ content: "Count", variables });
  await expect.poll(async () => (await bed.orcha.supportAgent.get.safe(sessionId)).data?.runStatus).toBe("running");
  await started.current.stop();
  await expect.poll(() => started.current.result?.status).toBe("stopped");
});
