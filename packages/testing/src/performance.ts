import type { AnyCall, AnyStep, Scores } from "./step.ts";

/** One run, and what it plays. */
export class Performance {
  readonly agent: string;
  readonly sessionId: string;
  readonly run: number;
  /** The model's whole turns that the log had before the first step. */
  readonly before: number;
  /** Given when the model is first asked, and once more where a fixture's run goes on into the script. */
  readonly steps: AnyStep[] = [];
  hasScript = false;
  played = 0;
  /** How the run is judged, by its answer's word. */
  scores: Readonly<Record<string, Scores | undefined>> = {};
  private readonly calls = new Map<string, AnyCall>();

  constructor(agent: string, sessionId: string, run: number, before: number) {
    this.agent = agent;
    this.sessionId = sessionId;
    this.run = run;
    this.before = before;
  }

  keep(callId: string, call: AnyCall): void {
    this.calls.set(callId, call);
  }

  /** The call of an id. One that the conversation had before was given a number behind it. */
  call(callId: string): AnyCall | undefined {
    return this.calls.get(callId) ?? this.calls.get(callId.replace(/_\d+$/, ""));
  }
}
