// The model loop, for whoever drives runs: Orcha's server does.
export { runLoop } from "./loop.ts";
export { type LoopInput, type ModelSettings, type OpenRound, type OutputFormat } from "./loop-input.ts";
export { type Interruption, type LoopEnd, type LoopStep } from "./loop-step.ts";
export {
  InvalidArguments,
  RunFailure,
  type ActionTool,
  type ClientActionTool,
  type Delegation,
  type LoopCall,
  type LoopTool,
  type SilentTool,
  type SkillTool,
  type SubagentEnd,
  type SubagentTool,
} from "./loop-tool.ts";
export { faultOf } from "./fault.ts";
export { promptOf } from "./prompt.ts";
