import { mount } from "./mount.ts";
import { useHistory } from "@orcha/client/react";
import { QueryClient } from "@tanstack/react-query";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { variables } from "../runs/bed.ts";
import { ask, say, serverOf, wordsOf } from "./server.ts";

/*
 * Two tabs show one session, while anything happens to it, to their connections, and to themselves. Whatever the order:
 *
 *   - what a tab shows of the history are neighbours in it, oldest first, each once;
 *   - what was said in a tab stands behind them until its item is there, and is never seen twice;
 *   - in the end each tab shows what the server has, from its first item on.
 */
const steps = {
  say: 3,
  send: 3,
  ask: 2,
  answer: 3,
  older: 3,
  cut: 2,
  leave: 1,
  come: 1,
  reset: 1,
  invalidate: 1,
  pause: 2,
} as const;

type Step = keyof typeof steps;

const step = fc.oneof(...Object.entries(steps).map(([name, weight]) => ({ weight, arbitrary: fc.constant(name as Step) })));

// oxlint-disable-next-line vitest/expect-expect -- it is in `check`
test("tabs show what the history is, whatever happens to it and to them", { timeout: 60_000 }, async () => {
  const script = fc.array(fc.record({ step, tab: fc.nat(1) }), { minLength: 4, maxLength: 16 });
  await fc.assert(
    fc.asyncProperty(script, async (script) => {
      const table = await tableOf();
      for (const { step, tab } of script) await table.take(step, tab);
      await table.check();
    }),
    { numRuns: 25 },
  );
});

async function tableOf() {
  const bed = serverOf({ support: Array.from({ length: 20 }, (_, index) => ({ text: `Answer ${index}`, chunkSize: 3 })) });
  const agent = bed.orcha.supportAgent;
  const { sessionId } = await agent.create({ variables });
  await say(bed, sessionId, ...Array.from({ length: 8 }, (_, index) => `before ${index}`));
  const cuts = cuttable();
  bed.intercept(async (operation, request) => (operation === "tail" ? cuts.through(await bed.service.app.fetch(request)) : undefined));

  const open = (queryClient: QueryClient) => mount(() => useHistory(agent, sessionId, { pageSize: 3 }), { queryClient, strict: true });
  const clients = [new QueryClient(), new QueryClient()];
  const tabs = clients.map(open);
  const seen = [...tabs];
  const isOpen = [true, true];
  const works: Promise<unknown>[] = [];
  let count = 0;

  async function take(step: Step, tab: number): Promise<void> {
    const shown = isOpen[tab] ? tabs[tab]?.all.at(-1) : undefined;
    count += 1;
    if (step === "say") await say(bed, sessionId, `said ${count}`).catch(() => {});
    if (step === "ask") await ask(bed, sessionId, `call_${count}`).catch(() => {});
    if (step === "send") works.push(Promise.resolve(shown?.send(`sent ${count}`)));
    if (step === "answer") works.push(Promise.resolve(shown?.pendingClientActions[0]?.answer({ approved: true })));
    if (step === "older") void shown?.fetchOlder();
    if (step === "cut") cuts.cut();
    if (step === "reset") void clients[tab]?.resetQueries();
    if (step === "invalidate") void clients[tab]?.invalidateQueries();
    if (step === "pause") await new Promise((resolve) => setTimeout(resolve, 30));
    if (step === "leave") tabs[tab]?.unmount();
    if (step === "leave") isOpen[tab] = false;
    const client = clients[tab];
    if (step === "come" && client && !isOpen[tab]) {
      tabs[tab] = open(client);
      seen.push(tabs[tab]);
      isOpen[tab] = true;
    }
  }

  async function check(): Promise<void> {
    for (const tab of [0, 1]) await take("come", tab);
    await Promise.allSettled(works);
    const isOver = async (): Promise<boolean> => {
      const { items } = await agent.history(sessionId, { pageSize: 100 });
      const said = (role: string) => items.filter((item) => item.type === "message" && item.role === role).length;
      return said("assistant") === items.filter(({ type }) => type === "evaluation").length;
    };
    await expect.poll(isOver).toBe(true);
    const history = await agent.history(sessionId, { pageSize: 100 });
    const ids = history.items.map(({ id }) => id);
    for (const tab of tabs) {
      const shown = () => (tab.all.at(-1)?.items ?? []).filter((item) => item.type !== "message" || !item.sending);
      await expect.poll(() => shown().at(-1)?.id).toBe(ids.at(-1));
      // Compared with as many as are shown then: an older page may still come.
      await vi.waitFor(() => expect(shown()).toEqual(history.items.slice(-shown().length)), { timeout: 3000 });
      await expect.poll(() => tab.current.connection).toBe("live");
      expect(tab.current.streaming).toBe(undefined);
      expect(tab.current.pendingClientActions).toMatchObject(history.pendingClientActions);
    }
    for (const { items } of seen.flatMap(({ all }) => all)) {
      const told = items.filter((item) => item.type !== "message" || !item.sending);
      const start = told[0] ? ids.indexOf(told[0].id) : 0;
      expect(told.map(({ id }) => id)).toEqual(ids.slice(start, start + told.length));
      expect(items.slice(0, told.length)).toEqual(told);
      const sent = items.map(wordsOf).filter((words) => words.startsWith("sent "));
      expect(new Set(sent).size).toBe(sent.length);
    }
    for (const { unmount } of seen) unmount();
  }

  return { take, check };
}

/** Streams that break in the midst, as where a network goes away. */
function cuttable() {
  const open = new Set<(reason: Error) => void>();
  return {
    through: (response: Response): Response => {
      if (!response.body) return response;
      const controller = new AbortController();
      open.add((reason) => controller.abort(reason));
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      response.body.pipeTo(writable, { signal: controller.signal }).catch(() => {});
      return new Response(readable, response);
    },
    cut: (): void => {
      for (const end of open) end(new Error("cut"));
      open.clear();
    },
  };
}
