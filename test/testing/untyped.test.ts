import { mockOrcha, type Scenario } from "@orcha/testing";
import { describe, expect, test } from "vitest";
import { agents } from "../runs/agents.ts";
import { setting } from "./setting.ts";

/** As from JavaScript, where nothing checks the words. */
const untyped = (value: unknown) => value as Scenario<typeof agents>;

describe("a scenario with words that there aren't is refused when the mock is made", () => {
  const history = (...entries: unknown[]) => ({ supportAgent: { sessions: [{ history: entries }] } });
  test.each<[name: string, scenario: unknown, words: RegExp]>([
    ["an entry", history({ text: "Hello" }, { usr: "Hi" }), /^supportAgent\.sessions\[0\]\.history\[1\]\.usr is unknown; an entry has user, stopped, action, .*text/],
    ["a step", { supportAgent: { script: [{ txt: "Hi" }] } }, /^supportAgent\.script\[0\]\.txt is unknown; a step has action, clientAction, .*text, output/],
    ["a step's detail", { supportAgent: { script: [{ text: "Hi", hang: true }] } }, /^supportAgent\.script\[0\]\.hang is unknown/],
    ["a user in a script", { supportAgent: { script: [{ user: "Hi" }] } }, /^supportAgent\.script\[0\]\.user is unknown/],
    ["a call", history({ user: "Hi" }, { calls: [{ tool: "lookup_order" }] }), /^supportAgent\.sessions\[0\]\.history\[1\]\.calls\[0\]\.tool is unknown; a call has action/],
    ["a subagent's step", { supportAgent: { script: [{ subagent: "researcher", input: "?", steps: [{ say: "It" }] }] } }, /^supportAgent\.script\[0\]\.steps\[0\]\.say is unknown/],
    ["an agent's part", { supportAgent: { scripts: [] } }, /^supportAgent\.scripts is unknown; an agent has sessions, script, actions, evaluations$/],
    ["a session's part", { supportAgent: { sessions: [{ id: "ses_1" }] } }, /^supportAgent\.sessions\[0\]\.id is unknown; a session has history/],
    ["an agent", { supprtAgent: {} }, /^supprtAgent is no agent; there are supportAgent, /],
    ["a step that says nothing", { supportAgent: { script: [{}] } }, /^supportAgent\.script\[0\] says nothing: a step has one of action, /],
    ["an entry of thoughts alone", history({ user: "Hi" }, { reasoning: "Hm." }), /^supportAgent\.sessions\[0\]\.history\[1\] says nothing: an entry has one of user, /],
    ["an entry of two", history({ user: "Hi", action: "refund" }), /^supportAgent\.sessions\[0\]\.history\[0\] has user and action: an entry has one of them$/],
    ["a question with its answer", history({ user: "Hi", text: "Hello" }), /^supportAgent\.sessions\[0\]\.history\[0\] has user and text: /],
    ["a text for a step", { supportAgent: { script: ["Hi"] } }, /^supportAgent\.script\[0\] must be an object$/],
    ["a step for a list", { supportAgent: { script: { text: "Hi" } } }, /^supportAgent\.script must be a list$/],
    ["an action", { supportAgent: { script: [{ action: "lookup_ordr", arguments: {} }] } }, /^supportAgent\.script\[0\]\.action is "lookup_ordr"; supportAgent has lookup_order, refund$/],
    ["a client action among calls", history({ user: "Hi" }, { calls: [{ clientAction: "refund", arguments: {} }] }), /\.calls\[0\]\.clientAction is "refund"; supportAgent has request_human_approval/],
    ["a skill of an agent that has none", { researcher: { script: [{ skill: "triage" }] } }, /^researcher\.script\[0\]\.skill is "triage"; researcher has none$/],
    ["an action of a subagent", { supportAgent: { script: [{ subagent: "researcher", input: "?", steps: [{ action: "refund", arguments: {} }] }] } }, /^supportAgent\.script\[0\]\.steps\[0\]\.action is "refund"; researcher has none$/],
    ["an implementation", { supportAgent: { actions: { lookup: () => ({}) } } }, /^supportAgent\.actions\.lookup is unknown; supportAgent has lookup_order, refund$/],
    ["an evaluation", { supportAgent: { script: [{ text: "Hi", evaluations: { quality: {} } }] } }, /^supportAgent\.script\[0\]\.evaluations\.quality is unknown; supportAgent has response_quality$/],
    ["a metric", { supportAgent: { evaluations: { response_quality: { grounded: 0.4 } } } }, /^supportAgent\.evaluations\.response_quality\.grounded is unknown; response_quality has groundedness/],
    ["no scenario", [], /^the scenario must be an object$/],
  ])("%s", (_name, scenario, words) => {
    expect(() => mockOrcha(agents, untyped(scenario))).toThrow(expect.objectContaining({ name: "TypeError", message: expect.stringMatching(words) }));
  });
});

test("what a test wants to break is refused where there is no such thing", async () => {
  const { mock } = await setting();
  const other = mock as unknown as Record<"failNext" | "cutNext", (...given: unknown[]) => void>;
  expect(() => other.failNext("gett", "network")).toThrow('failNext: there is no operation "gett"; there are create, ');
  expect(() => other.failNext("get", "netwrk")).toThrow('failNext: there is no failure "netwrk"; there are invalid_input, ');
  expect(() => other.failNext("get", { code: "nope" })).toThrow('failNext: there is no failure "nope"');
  expect(() => other.failNext("get", "network", 0)).toThrow("failNext: times must be an integer of 1 or more, not 0");
  expect(() => other.cutNext("get", { afterFrames: 1 })).toThrow('cutNext: there is no operation "get"; there are run, resume, tail');
  expect(() => other.cutNext("tail", { frames: 1 })).toThrow("cutNext: say afterFrames or afterBytes");
});

test("a script's function that answers no step fails its run in the same words", async () => {
  const { app } = await setting(untyped({ supportAgent: { script: () => ({ txt: "Hi" }) } }));
  expect(await app.supportAgent.run("Hi").result).toMatchObject({
    status: "failed",
    error: { message: expect.stringMatching(/^supportAgent\.script\[0\]\.txt is unknown; a step has /) as string },
  });
});

test("what is left undefined is not there", async () => {
  const { app } = await setting({ supportAgent: { script: [{ text: "Hello", action: undefined, hangs: undefined }], sessions: undefined } });
  expect(await app.supportAgent.run("Hi").result).toMatchObject({ output: "Hello" });
});
