import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineAgent, defineAgents } from "@orcha/contract";
import { exportSessions, memoryStore } from "@orcha/server";
import { serve } from "@orcha/server/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { logOf } from "../arbitraries.ts";
import { textOf } from "../formats/reading.ts";
import { put } from "../import/sessions.ts";
import { temporaryFolders } from "../stores.ts";
import { orcha } from "./orcha.ts";

const folders = temporaryFolders();
const agents = defineAgents({ supportAgent: defineAgent({}) });

/** A store in which an agent delegated to one that the server defines no more, and the server. */
async function served() {
  const store = memoryStore();
  const nameOf = (sessionId: string, agent = "supportAgent") => ({ tenant: "default", agent, sessionId });
  await put(store, nameOf("ses_test"), logOf([{ type: "subagent.initiated", data: { callId: "c1", agent: "researcher", sessionId: "ses_child" } }]));
  const lineage = { origin: "delegated" as const, parentAgent: "supportAgent", parentSessionId: "ses_test", parentCallId: "c1" };
  const [created] = logOf([]);
  await put(store, nameOf("ses_child", "researcher"), [{ ...created, data: { ...created?.data, lineage } } as typeof created & object]);
  const server = await serve({ agents, store, port: 0, auth: () => ({ tenant: "default", scopes: ["read", "log"] }) });
  onTestFinished(() => server.close());
  return { store, url: ["--url", server.url] };
}

describe("delegated sessions of an agent that the server defines no more", () => {
  test("an export of a server says that they are not in it", async () => {
    const cwd = await folders();
    const { url } = await served();
    const words = /^Not exported, since the server defines no agent researcher: 1 delegated session, ses_child\. Define the agent again, or export from the store itself\.$/m;
    const piped = await orcha(["export", "--agent", "supportAgent", ...url], { cwd });
    expect([piped.code, piped.stderr]).toEqual([0, expect.stringMatching(words)]);
    const written = await orcha(["export", "ses_test", "--agent", "supportAgent", "-o", "a.jsonl", ...url], { cwd });
    expect([written.code, written.stderr]).toEqual([0, expect.stringMatching(words)]);
    expect(readFileSync(join(cwd, "a.jsonl"), "utf8")).toMatch(/"end":\{"sessions":1,/);
  });

  test("an export of the store has them", async () => {
    const cwd = await folders();
    const { store } = await served();
    const call = { principal: { tenant: "default", scopes: ["log" as const] } };
    const bundle = await textOf(exportSessions({ agents, store }, call, { agent: "supportAgent" }));
    expect(bundle).toContain('"sessionId":"ses_child","events":1}');
    writeFileSync(join(cwd, "a.jsonl"), bundle);
    expect((await orcha(["import", "a.jsonl", "--file", "copy.db"], { cwd })).code).toBe(0);
    const copied = await orcha(["export", "--agent", "supportAgent", "--file", "copy.db"], { cwd });
    // The header and the digest hold the time.
    const sessionsOf = (text: string) => text.split("\n").slice(1, -2);
    expect([copied.stderr, sessionsOf(copied.stdout)]).toEqual(["", sessionsOf(bundle)]);
  });

  test("one that is asked for by name is refused with the agent's", async () => {
    const cwd = await folders();
    const { url } = await served();
    for (const flags of [[], ["--format", "jsonl"]]) {
      const { code, stderr } = await orcha(["export", "ses_child", "--agent", "researcher", ...flags, ...url], { cwd });
      expect([code, stderr]).toEqual([1, 'orcha: no agent "researcher". Name the agent: --agent NAME\n']);
    }
  });
});
