// Doubles for tests and demos.
export {
  scriptedModel,
  type ScriptedModel,
  type ScriptEntry,
  type ScriptError,
  type ScriptFunction,
  type ScriptReply,
  type ScriptRequest,
  type ScriptToolCall,
} from "./scripted-model.ts";
