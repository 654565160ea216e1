// A mock of a server, for the tests of apps. `@orcha/testing/node` starts and stops it with a test file.
export { mockOrcha, type MockOptions, type MockOrcha } from "./mock.ts";
export { type Clock } from "./clock.ts";

// What is there, and what happens.
export {
  type AgentScenario,
  type BundleFixture,
  type Entry,
  type EventsFixture,
  type HistoryFixture,
  type MessagesFixture,
  type Scenario,
  type Script,
  type ScriptedRun,
  type SessionFixture,
  type StoppedEntry,
  type UserEntry,
} from "./scenario.ts";
export {
  type ActionCall,
  type Call,
  type CallsStep,
  type ClientActionCall,
  type Evaluations,
  type FailStep,
  type OutputStep,
  type Scores,
  type SkillCall,
  type Step,
  type SubagentCall,
  type TextStep,
} from "./step.ts";

// What was asked for, and what breaks.
export { type Cut } from "./cuttable.ts";
export { type Failure, type MockRequest, type StreamedOperation } from "./network.ts";
