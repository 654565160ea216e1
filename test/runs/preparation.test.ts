import { scriptedModel, type ScriptEntry } from "@orcha/agent/testing";
import { memoryStore, type Store } from "@orcha/server";
import { expect, test } from "vitest";
import { bedOf, variables } from "./bed.ts";

interface Changed {
  script: readonly ScriptEntry[];
  instructions?: string;
  skill?: () => string;
}

/** A client of a server whose support agent is made otherwise. */
function clientOf(store: Store, { script, instructions = "You help.", skill = () => "Stay calm." }: Changed) {
  const supportAgent = {
    model: scriptedModel(script),
    instructions,
    actions: { lookup_order: () => ({ status: "sent" }), refund: () => ({}) },
    skills: { incident_triage: skill },
    evaluations: { response_quality: async () => ({ groundedness: { score: 1, reasoning: "Fine." } }) },
  };
  return bedOf(store, { implementations: { supportAgent } }).orcha.supportAgent;
}

test("a run fails and says why, where a skill of its session can't be read any more", async () => {
  let text: string | undefined = "Stay calm.";
  const skill = (): string => {
    if (text === undefined) throw new Error("no such file: triage.md");
    return text;
  };
  const load = { toolCalls: [{ name: "load_skill", arguments: { name: "incident_triage" } }] };
  const client = clientOf(memoryStore(), { script: [load, { text: "Loaded." }, { text: "Calm." }], skill });
  const run = client.run("Help!");
  expect(await run.result).toMatchObject({ status: "completed", output: "Loaded." });
  text = undefined;
  const error = { code: "execution_failed", message: 'the skill "incident_triage" can\'t be read: no such file: triage.md' };
  expect(await client.resume(run.sessionId, "And now?").result).toMatchObject({ status: "failed", error });
  text = "Stay very calm.";
  expect(await client.resume(run.sessionId, "And now?").result).toMatchObject({ status: "completed", output: "Calm." });
});

test("a run fails and says why, where its agent's new instructions want a variable that its session doesn't have", async () => {
  const store = memoryStore();
  const ask = { callId: "call_ask", name: "request_human_approval", arguments: { amount: 1, currency: "USD" } };
  const run = clientOf(store, { script: [{ toolCalls: [ask] }] }).run({ content: "Refund", variables });
  expect(await run.result).toMatchObject({ status: "waiting_for_client_action" });
  const after = clientOf(store, { script: [], instructions: "You help {{ customer }} of {{ company }}." });
  const answered = await after.resume(run.sessionId, { toolResults: [{ callId: "call_ask", output: { approved: true } }] }).result;
  expect(answered).toMatchObject({ status: "failed", error: { code: "invalid_input", message: expect.stringContaining("variables.company") } });
});
