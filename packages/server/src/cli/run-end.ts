import type { ExecutionResult, PendingClientAction } from "@orcha/client";
import { commandAfter, shellWord } from "./again.ts";
import { exampleOf } from "./answer-shape.ts";
import type { AgentDescription } from "./connect.ts";
import { exitCodes } from "./failure.ts";
import { argumentsText } from "./item-text.ts";
import type { TargetFlags } from "./target.ts";
import { plain, time } from "./text.ts";

/** Tells a run that failed from a request that was refused. */
export function isRefused(result: ExecutionResult): boolean {
  return result.status === "failed" && !("run" in result);
}

/** The exit code that says how a run ended. */
export function exitCodeOf(result: ExecutionResult): number {
  switch (result.status) {
    case "failed":
      return isRefused(result) ? exitCodes.failed : exitCodes.runFailed;
    case "waiting_for_client_action":
      return exitCodes.runWaits;
    case "stopped":
    case "paused":
      return exitCodes.runInterrupted;
    default:
      return 0;
  }
}

/** Where an end is, for the commands that go on from it. */
export interface Ended {
  agent: string;
  flags: TargetFlags;
  description: AgentDescription;
}

/** What a person needs to know of an end: the session, what waits, and the commands that go on. */
export function endText(result: ExecutionResult, { agent, flags, description }: Ended): string {
  const { sessionId, status } = result;
  const lines = [`Session ${sessionId} · ${status.replaceAll("_", " ")}`];
  if (status === "failed") lines.push(`${result.error.code}: ${plain(result.error.message)}`);
  if (status === "paused") lines.push(`Go on: ${commandAfter(flags, "run", agent, "--session", sessionId)}`);
  if (status === "waiting_for_client_action") lines.push(...waitingLines(result.pendingClientActions, sessionId, { agent, flags, description }));
  return lines.join("\n");
}

function waitingLines(pending: readonly PendingClientAction[], sessionId: string, { agent, flags, description }: Ended): string[] {
  const calls = pending.map(({ name, callId, arguments: given, expiresAt }) => {
    const until = expiresAt === undefined ? "" : `, until ${time(expiresAt)}`;
    return `Waits for ${plain(name)} ${argumentsText(given)} (${plain(callId)}${until})`;
  });
  const answers = pending.map(({ name, callId }) => ({
    callId,
    output: exampleOf(Object.hasOwn(description.clientActions, name) ? description.clientActions[name]?.output : undefined),
  }));
  return [
    ...calls,
    `Answer: echo ${shellWord(JSON.stringify(answers))} | ${commandAfter(flags, "run", agent, "--session", sessionId, "--tool-results", "-")}`,
    `Or be asked: ${commandAfter(flags, "chat", agent, "--session", sessionId)}`,
  ];
}
