import { isPlainObject } from "@orcha/contract";
import type { Definitions } from "../definitions.ts";

/** Checks what a server says its agents are; nothing where that isn't what `describeAgents` gives. */
export function readDefinitions(answer: unknown): Definitions | undefined {
  return isDefinitions(answer) ? answer : undefined;
}

function isDefinitions(answer: unknown): answer is Definitions {
  if (!isPlainObject(answer)) return false;
  const { version, agents } = answer;
  // It goes into a comment, where it has to stay.
  return typeof version === "string" && /^[\w.:+/=-]{1,200}$/.test(version) && isRecordOf(isAgent, agents);
}

function isAgent(agent: unknown): boolean {
  if (!isDescribed(agent)) return false;
  const { actions, clientActions, skills, evaluations, subagents } = agent;
  return (
    isRecordOf(isAction, actions) &&
    isRecordOf(isAction, clientActions) &&
    isRecordOf(isDescribed, skills) &&
    isRecordOf(isDescribed, evaluations) &&
    Array.isArray(subagents) &&
    subagents.every((key) => typeof key === "string")
  );
}

function isAction(action: unknown): boolean {
  return isDescribed(action) && "input" in action;
}

function isDescribed(value: unknown): value is Record<string, unknown> {
  return isPlainObject(value) && (value["description"] === undefined || typeof value["description"] === "string");
}

function isRecordOf(check: (value: unknown) => boolean, record: unknown): boolean {
  return isPlainObject(record) && Object.values(record).every(check);
}
