import { isOrchaError, type AgentClient, type CallOptions } from "@orcha/client";
import type { Command } from "commander";
import { commandAfter } from "./again.ts";
import { clientOf, describeAgent, toCommandFailure, type AgentDescription } from "./connect.ts";
import { CommandFailure, Interrupted, wordsOf } from "./failure.ts";
import { targetFlags, withExamples, withJson, withTarget } from "./flags.ts";
import { LiveTranscript } from "./live-transcript.ts";
import { ServerFailure } from "./remote.ts";
import { endText, exitCodeOf, isRefused, type Ended } from "./run-end.ts";
import { readRunInput, withRunInput, type RunFlags, type RunRequest } from "./run-input.ts";
import { stopRun, type AnyExecution } from "./stop-run.ts";
import { openTarget, type Target, type TargetFlags } from "./target.ts";
import type { Terminal } from "./terminal.ts";
import { printable } from "./text.ts";
import { watch } from "./watch.ts";

/** `orcha run`: one run of an agent, or its next part. */
export function addRun(program: Command, terminal: Terminal): void {
  const command = program
    .command("run")
    .argument("[agent]", "which agent; needless where there is only one")
    .description("Runs an agent on a message, in a new session or the next run of one");
  withJson(withRunInput(withTarget(command))).action(async (agent: string | undefined) => {
    const flags: TargetFlags = { ...targetFlags(command), ...(agent === undefined ? {} : { agent }) };
    const given = command.opts<RunFlags & { json?: boolean }>();
    await runOnce(terminal, flags, await readRunInput(given), given.json === true);
  });
  withExamples(command, [
    ["orcha run supportAgent --input 'Where is order A-1042?'", "in a new session"],
    ["orcha run supportAgent --session ses_1 --input-file question.txt", "its next run"],
    ["orcha run supportAgent --session ses_1 --tool-results answers.json", "answers what it waits for"],
    ["orcha run supportAgent --session ses_1", "goes on with a session that was paused"],
  ]);
}

async function runOnce(terminal: Terminal, flags: TargetFlags, request: RunRequest, isJson: boolean): Promise<void> {
  // Answers are recorded for agents that run elsewhere, too.
  const target = await openTarget(flags, { mustExist: request.sessionId !== undefined, mustRun: !request.isAnswer });
  try {
    const signal = terminal.interrupts();
    const client = clientOf(target);
    const description = await describeAgent(target);
    const transcript = isJson || !terminal.isWatched ? undefined : await transcriptOf(terminal, client, request, description);
    const listening = new AbortController();
    const execution = start(client, request, { signal: listening.signal });
    transcript?.follow(execution.sessionId);
    signal.addEventListener("abort", () => void interrupt(target, execution, listening));
    try {
      await show(terminal, { execution, transcript, isJson, signal, mayLeave: !target.isLocal, end: { agent: target.agent, flags, description } });
    } catch (error) {
      // What is refused never began.
      if (target.isLocal || !isOrchaError(error)) throw error;
      await transcript?.endLine();
      const words = [execution.sessionId, "--agent", target.agent];
      const see = `See it: ${commandAfter(flags, "history", ...words)}`;
      if (!signal.aborted) throw new CommandFailure(`${wordsOf(toCommandFailure(error))}; what became of the run is not known. ${see}`);
      terminal.note(`The run goes on without a listener. End it: ${commandAfter(flags, "stop", ...words)}`);
      terminal.note(see);
    }
    if (signal.reason instanceof Interrupted) process.exitCode = signal.reason.exitCode;
  } catch (error) {
    throw toCommandFailure(error);
  } finally {
    await target.close();
  }
}

function start(client: AgentClient, request: RunRequest, options: CallOptions): AnyExecution {
  return request.sessionId === undefined ? client.run(request.input, options) : client.resume(request.sessionId, request.input, options);
}

/** A run of this process ends with it, whole as far as it got; one of a server is left alone. */
async function interrupt({ isLocal }: Target, execution: AnyExecution, listening: AbortController): Promise<void> {
  if (!isLocal) return listening.abort();
  await stopRun(execution).catch(() => listening.abort());
}

interface Showing {
  execution: AnyExecution;
  /** Where somebody watches. */
  transcript: LiveTranscript | undefined;
  isJson: boolean;
  signal: AbortSignal;
  /** The run's evaluations need this process no longer. */
  mayLeave: boolean;
  end: Ended;
}

async function show(terminal: Terminal, { execution, transcript, isJson, signal, mayLeave, end }: Showing): Promise<void> {
  const result = await (transcript ? watch(execution, transcript) : execution.result);
  process.exitCode = exitCodeOf(result);
  if (isJson) await terminal.write(`${JSON.stringify(result)}\n`);
  else if (result.status === "failed" && isRefused(result)) throw new ServerFailure(result.error.code, result.error.message);
  else if (!transcript && "output" in result) await terminal.write(`${outputText(result.output)}\n`);
  if (transcript || !mayLeave) await Promise.race([execution.evaluations, aborted(signal)]);
  await transcript?.end();
  if (!isJson) terminal.note(endText(result, end));
}

/** Made before the run begins: what is there by then is old. */
async function transcriptOf(terminal: Terminal, client: AgentClient, { sessionId }: RunRequest, description: AgentDescription): Promise<LiveTranscript> {
  const before = sessionId === undefined ? undefined : await client.history.safe(sessionId, { pageSize: 1 });
  return new LiveTranscript(terminal, client, { seen: before?.data?.total ?? 0, isStructured: description.hasStructuredOutput });
}

function outputText(output: unknown): string {
  return printable(typeof output === "string" ? output : JSON.stringify(output));
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
