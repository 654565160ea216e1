import { isOrchaError, type AgentClient, type ExecutionResult, type PendingClientAction, type ResumeInput, type SessionHistory } from "@orcha/client";
import { sleep, within } from "../store/wait.ts";
import { askClientAction } from "./client-action-question.ts";
import { toCommandFailure, type AgentDescription } from "./connect.ts";
import { wordsOf } from "./failure.ts";
import { itemText } from "./item-text.ts";
import type { LineReader } from "./line-reader.ts";
import { LiveTranscript } from "./live-transcript.ts";
import type { Opening } from "./run-input.ts";
import { stopRun, type AnyExecution } from "./stop-run.ts";
import type { Terminal } from "./terminal.ts";
import { plain } from "./text.ts";
import { watch } from "./watch.ts";

interface Parts {
  terminal: Terminal;
  lines: LineReader;
  client: AgentClient;
  description: AgentDescription;
  /** What the first message opens the session with, where there is none yet. */
  opening: Opening;
}

const help = `  /history  the conversation so far
  /stop     ends the run, and cancels what it waits for
  /quit     leaves; so do Ctrl-C and Ctrl-D
  Ctrl-C while an answer is written stops it; what was said is kept.
`;

/** How long a prompt waits for a run's evaluations, in milliseconds. */
const patienceMs = 200;

/** How often a run that went on by itself is looked at, in milliseconds. */
const lookMs = 200;

/*
 *   prompt ── text ──▶ run ──▶ answered, stopped, failed ──▶ prompt
 *                       ▲  └──▶ waits: each client action is asked, and answered one by one
 *                       └────────────────┘ goes on with the last answer
 */

/** A conversation with an agent in a terminal, or through a pipe. */
export class Conversation {
  private readonly parts: Parts;
  private readonly transcript: LiveTranscript;
  /** There with the first message. */
  sessionId: string | undefined;
  private readonly leaving = new AbortController();
  private answering: { execution: AnyExecution; isStopping: boolean } | undefined;

  constructor(parts: Parts, sessionId: string | undefined) {
    this.parts = parts;
    this.sessionId = sessionId;
    this.transcript = new LiveTranscript(parts.terminal, parts.client, { seen: 0, isStructured: parts.description.hasStructuredOutput });
  }

  /** Talks until the person leaves. Throws where the session given can't be read. */
  async talk(): Promise<void> {
    const giveBack = this.parts.terminal.onInterrupt((exitCode) => this.interrupt(exitCode));
    try {
      if (this.sessionId !== undefined) {
        const { pendingClientActions } = await this.showHistory(this.sessionId);
        await this.resolve(pendingClientActions);
      }
      while (!this.leaving.signal.aborted) {
        const line = (await this.parts.lines.read(this.parts.terminal.style("bold", "> "), this.leaving.signal))?.trim();
        if (line === undefined || line === "/quit") return;
        if (line !== "") await this.take(line);
      }
    } finally {
      giveBack();
    }
  }

  /** The first Ctrl-C of an answer stops it; at the prompt it leaves. */
  private interrupt(exitCode: number): void {
    const { answering } = this;
    if (exitCode !== 130) process.exitCode = exitCode;
    if (!answering || exitCode !== 130) this.leaving.abort();
    if (!answering) return;
    if (answering.isStopping) process.exit(exitCode);
    answering.isStopping = true;
    // Where it is refused, the next Ctrl-C tries again.
    stopRun(answering.execution).catch(() => (answering.isStopping = false));
  }

  private async take(line: string): Promise<void> {
    try {
      const command = /^\/(\w+)$/.exec(line)?.[1];
      await (command === undefined ? this.say(line) : this.obey(command));
    } catch (error) {
      if (!isOrchaError(error)) throw error;
      await this.complain(wordsOf(toCommandFailure(error)));
    }
  }

  private async obey(command: string): Promise<void> {
    const { terminal, client } = this.parts;
    const { sessionId } = this;
    if (command === "help") await terminal.write(help);
    else if (command !== "history" && command !== "stop") await terminal.write(`  There is no /${plain(command)}: /help\n`);
    else if (sessionId === undefined) await terminal.write("  Nothing has been said yet.\n");
    else if (command === "history") await this.showHistory(sessionId);
    else {
      await client.stop(sessionId);
      await terminal.write(terminal.style("dim", "  Nothing runs or waits any more.\n"));
    }
  }

  private async say(content: string): Promise<void> {
    const { client, opening } = this.parts;
    const isNew = this.sessionId === undefined;
    const execution = this.sessionId === undefined ? client.run({ ...opening, content }) : client.resume(this.sessionId, content);
    const result = await this.show(execution);
    // A session that was refused is none: the next message tries anew.
    if (isNew && result.status === "failed" && !("run" in result)) this.sessionId = undefined;
    else await this.goOn(result);
  }

  private async show(execution: AnyExecution): Promise<ExecutionResult> {
    this.sessionId = execution.sessionId;
    this.transcript.follow(execution.sessionId);
    this.answering = { execution, isStopping: false };
    try {
      const result = await watch(execution, this.transcript);
      // Quick judgements show here; the others are in the history.
      if (await within(execution.evaluations.catch(() => []), patienceMs)) await this.transcript.end();
      if (result.status === "failed") await this.complain(`${result.error.code}: ${result.error.message}`);
      if (result.status === "stopped" || result.status === "paused") await this.remark(`${result.status}.`);
      if (result.status === "recorded") await this.remark("recorded: the agent runs elsewhere.");
      return result;
    } finally {
      this.answering = undefined;
    }
  }

  /** What a result calls for: answers to what the run waits for. */
  private async goOn(result: ExecutionResult): Promise<void> {
    if (result.status === "waiting_for_client_action") return this.resolve(result.pendingClientActions);
    if (result.status !== "failed" || result.error.code !== "client_action_required") return;
    await this.resolve((await this.parts.client.get(result.sessionId)).pendingClientActions);
  }

  /** Asks for each client action that waits. An answer that doesn't fit is asked for again. */
  private async resolve(pending: readonly PendingClientAction[]): Promise<void> {
    const { client, description, terminal, lines } = this.parts;
    let waiting = [...pending];
    while (waiting[0] && this.sessionId !== undefined) {
      const [call] = waiting;
      const described = Object.hasOwn(description.clientActions, call.name) ? description.clientActions[call.name] : undefined;
      const answer = await askClientAction(call, described ?? {}, { terminal, lines, signal: this.leaving.signal });
      if (!answer) {
        if (!this.leaving.signal.aborted) await this.remark("it goes on waiting.");
        return;
      }
      const input: ResumeInput = { toolResults: [answer] };
      const result = await this.show(client.resume(this.sessionId, input));
      if (result.status === "waiting_for_client_action") waiting = [...result.pendingClientActions];
      else if (result.status !== "failed") return;
      else if (result.error.code === "action_result_conflict") waiting = await this.catchUp(this.sessionId);
      else if (result.error.code !== "invalid_tool_result") return;
    }
  }

  /** Shows what the run did that went on without this answer: its time was over, or somebody else was faster. Tells what waits then. */
  private async catchUp(sessionId: string): Promise<PendingClientAction[]> {
    for (;;) {
      const { runStatus, pendingClientActions } = await this.parts.client.get(sessionId);
      const isAtWork = runStatus === "running" || runStatus === "waiting_for_subagent";
      if (isAtWork && !this.leaving.signal.aborted) {
        await this.transcript.wait();
        await sleep(lookMs);
        continue;
      }
      await this.transcript.end();
      return pendingClientActions;
    }
  }

  private async showHistory(sessionId: string): Promise<SessionHistory> {
    const { terminal, client } = this.parts;
    const history = await client.history(sessionId, { pageSize: 50 });
    const title = history.name === undefined ? sessionId : `${plain(history.name)} · ${sessionId}`;
    const older = history.hasMore ? ` · ${history.total - history.items.length} older items` : "";
    await this.remark(`${title}${older}`);
    for (const item of history.items) await terminal.write(`${itemText(terminal, item)}\n`);
    this.transcript.skipTo(history.total);
    return history;
  }

  private async remark(words: string): Promise<void> {
    await this.parts.terminal.write(`${this.parts.terminal.style("dim", `  ${words}`)}\n`);
  }

  private async complain(words: string): Promise<void> {
    await this.parts.terminal.write(`${this.parts.terminal.style("red", `  ${plain(words)}`)}\n`);
  }
}
