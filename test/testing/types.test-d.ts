import { mockOrcha, type AgentScenario, type Entry, type Step } from "@orcha/testing";
import type { AgentTypesFrom } from "@orcha/client";
import { agents } from "../runs/agents.ts";

// What the compiler says of fixtures and scripts: each mistake is an error where it stands.
type Agents = typeof agents;
type Support = AgentTypesFrom<Agents["supportAgent"]>;
type SupportStep = Step<Support, Agents>;

mockOrcha(agents, {
  supportAgent: {
    sessions: [
      {
        metadata: { plan: "free" },
        history: [
          { user: "Where is my order?" },
          { text: "Let me look.", action: "lookup_order", arguments: { orderId: "A-1" }, output: { status: "lost" } },
          { calls: [{ action: "refund", arguments: { amount: 5 } }, { clientAction: "pick_date", arguments: {}, outcome: "denied", reason: "no" }] },
          { skill: "incident_triage" },
          { subagent: "researcher", input: "Find it", steps: [{ clientAction: "ask_expert", arguments: { question: "?" } }] },
          { clientAction: "request_human_approval", arguments: { amount: 750, currency: "USD" }, output: { approved: true } },
          { text: "Done.", evaluations: { response_quality: { groundedness: 0.9 } } },
        ],
      },
      { messages: [{ role: "user", content: "Hi" }] },
      { bundle: "…" },
    ],
    script: ({ text, metadata }) => [{ text: `${text} ${Object.keys(metadata).length}` }],
    actions: { refund: ({ amount }) => ({ refunded: amount }) },
  },
  sorter: { script: [{ output: { label: "bug" } }] },
});

export const entries: Entry<Support, Agents>[] = [
  // @ts-expect-error a misspelt action
  { action: "lookup_ordr", arguments: { orderId: "A-1" }, output: { status: "lost" } },
  // @ts-expect-error arguments of another type
  { action: "lookup_order", arguments: { orderId: 1 }, output: { status: "lost" } },
  // @ts-expect-error arguments that are missing
  { action: "lookup_order", output: { status: "lost" } },
  // @ts-expect-error an output of another type
  { action: "lookup_order", arguments: { orderId: "A-1" }, output: { state: "lost" } },
  // @ts-expect-error a client action of another agent
  { clientAction: "ask_expert", arguments: { question: "?" } },
  // @ts-expect-error an answer that the definition doesn't have
  { clientAction: "request_human_approval", arguments: { amount: 1, currency: "USD" }, output: { approved: "yes" } },
  // @ts-expect-error a client action is no action
  { action: "request_human_approval", arguments: { amount: 1, currency: "USD" } },
  // @ts-expect-error a skill that isn't there
  { skill: "incident_triag" },
  // @ts-expect-error an agent that this one can't hand work to
  { subagent: "sorter", input: "Sort it" },
  // @ts-expect-error what another agent can't say
  { subagent: "researcher", input: "Find it", steps: [{ action: "lookup_order", arguments: { orderId: "A-1" } }] },
  // @ts-expect-error two things in one step
  { user: "Hi", text: "Hello" },
];

export const steps: SupportStep[] = [
  // @ts-expect-error only a fixture knows what the user said
  { user: "Hi" },
  // @ts-expect-error a field that no step has
  { text: "Hi", delay: 5 },
  // @ts-expect-error an evaluation that the agent doesn't have
  { text: "Hi", evaluations: { quality: { groundedness: 1 } } },
];

// @ts-expect-error a structured answer of another shape
export const sorted: AgentScenario<AgentTypesFrom<Agents["sorter"]>, Agents> = { script: [{ output: { label: "poem" } }] };
// @ts-expect-error metadata of another type
export const session: AgentScenario<AgentTypesFrom<Agents["supportAgent"]>, Agents> = { sessions: [{ metadata: { plan: [] } }] };
// @ts-expect-error a misspelt agent
mockOrcha(agents, { suportAgent: {} });

const mock = mockOrcha(agents);
mock.failNext("history", "storage_error", 3);
// @ts-expect-error an operation that isn't there
mock.failNext("histroy", "storage_error");
// @ts-expect-error a code that isn't in the table
mock.failNext("history", "storage_eror");
// @ts-expect-error a history is no stream
mock.cutNext("history", { afterFrames: 1 });
