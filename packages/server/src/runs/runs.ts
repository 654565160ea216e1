import { OrchaError, type RecordedAnswer, type ResumeAnswer, type RunResult, type SessionSnapshot } from "@orcha/contract";
import type { Answers, ResumeInput } from "../answers.ts";
import type { Call } from "../call.ts";
import type { SessionInput } from "../reading.ts";
import type { Following } from "./following.ts";
import type { Interrupting } from "./interrupting.ts";
import type { RunNews } from "./live-run.ts";
import type { Runner } from "./runner.ts";
import type { RunInput, RunRef, Starting } from "./starting.ts";

interface Parts {
  starting: Starting;
  answers: Answers;
  following: Following;
  interrupting: Interrupting;
  runner: Runner;
  isClosing: () => boolean;
}

/** How long an answer without a stream waits for the run, in milliseconds. */
const resultLimitMs = 600_000;

/** The operations of runs. */
export class Runs {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Starts a run of a new session. */
  async begin(call: Call, input: RunInput): Promise<RunRef> {
    this.checkOpen();
    return this.parts.starting.run(call, input);
  }

  /** Answers client actions, or goes on with a session. Without a run to follow it answers what was recorded. */
  async goOn(call: Call, input: ResumeInput): Promise<RunRef | RecordedAnswer> {
    const { answers, runner, starting } = this.parts;
    if (input.toolResults !== undefined && input.content !== undefined) {
      throw new OrchaError("invalid_input", "give either content or toolResults", { details: { path: "content" } });
    }
    if (input.toolResults !== undefined || (input.content === undefined && !runner.isHosted(input.agent))) {
      need(call, "resolve");
      if (input.clientCapabilities !== undefined) {
        throw new OrchaError("invalid_input", "a run that goes on keeps its clientCapabilities", { details: { path: "clientCapabilities" } });
      }
      return answers.answer(call, input);
    }
    need(call, "run");
    this.checkOpen();
    return starting.goOn(call, input);
  }

  /** Tells of a run from now on. */
  news(run: RunRef, signal: AbortSignal): AsyncGenerator<RunNews, void> {
    return this.parts.following.news(run, signal);
  }

  /** Runs, and waits for the result. */
  async run(call: Call, input: RunInput): Promise<RunResult> {
    return this.parts.following.result(await this.begin(call, input), resultLimitMs);
  }

  /** Resumes, and waits for the result. */
  async resume(call: Call, input: ResumeInput): Promise<ResumeAnswer> {
    const started = await this.goOn(call, input);
    return "ref" in started ? this.parts.following.result(started, resultLimitMs) : started;
  }

  pause(call: Call, input: SessionInput): Promise<SessionSnapshot> {
    return this.parts.interrupting.pause(call, input);
  }

  stop(call: Call, input: SessionInput): Promise<SessionSnapshot> {
    return this.parts.interrupting.stop(call, input);
  }

  private checkOpen(): void {
    if (this.parts.isClosing()) throw new OrchaError("too_busy", "this server is about to end; another one takes the run");
  }
}

function need({ principal }: Call, scope: "resolve" | "run"): void {
  if (principal.scopes.includes(scope)) return;
  throw new OrchaError("forbidden", `this call needs the scope "${scope}"`, { details: { scope } });
}
