import { UnsupportedFunctionalityError } from "@ai-sdk/provider";
import { OrchaError, type AssistantContent, type EventError, type EventInput, type ToolCallContent, type Turn } from "@orcha/contract";
import { Answer } from "./answer.ts";
import { faultOf } from "./fault.ts";
import type { LoopStep } from "./loop-step.ts";
import type { MediaReach } from "./media-part.ts";
import { callModel } from "./model-call.ts";
import { failureOf, providerError, waitBefore } from "./provider-failure.ts";
import { secretsOf } from "./redact.ts";
import type { Ending, RunState } from "./run-state.ts";
import { readOutput } from "./structured-output.ts";
import { pause } from "./waiting.ts";

/*
 * One round of the model:
 *
 *   ask ──▶ text… ──▶ whole ──▶ calls, or an ending: completed, failed
 *    ▲        │
 *    │        ├─ signal ──▶ what was shown is kept, incomplete; an ending: paused, stopped, lost
 *    │        └─ failure ─▶ what was shown is kept, incomplete; an ending: failed, or once more
 *    └── wait ◀────────────────────────────────────────────────────────────────────┘
 */

type Assistant = Extract<Turn, { role: "assistant" }>;

/** What a round gives: an end of the run, or a turn whose calls want answers. */
export type RoundEnd = { type: "ended"; ending: Ending } | { type: "calls"; message: EventInput; calls: readonly ToolCallContent[] };

const mediaReaches: readonly MediaReach[] = ["all", "images", "none"];

/** Asks the model until it has answered, as often as the settings and its provider allow. */
export async function* modelRound(run: RunState): AsyncGenerator<LoopStep, RoundEnd> {
  const { model, signal, now, settings = {}, instructions, repeatsShown = true } = run.input;
  const { maxRetries = 2 } = settings;
  let reach = 0;
  let retry = 0;
  for (;;) {
    const before = run.interrupted();
    if (before) return { type: "ended", ending: before };
    const told = read(instructions);
    if ("error" in told) return { type: "ended", ending: run.failed(told.error) };
    const startedAt = now();
    const answer = new Answer(model);
    const end = yield* callModel(run, told.instructions, mediaReaches[reach] ?? "none", answer);
    const durationMs = Math.max(0, now() - startedAt);
    if (end.isWhole) return wholeAnswer(run, answer, durationMs);
    const shown = answer.visibleContent();
    const cut = shown.length === 0 ? undefined : turnOf(run, answer, { status: "incomplete", content: shown, durationMs });
    const interrupted = run.interrupted(cut);
    if (interrupted) return { type: "ended", ending: interrupted };
    if (UnsupportedFunctionalityError.isInstance(end.error) && reach < mediaReaches.length - 1) {
      // A provider that refuses some kind of media refuses it for ever, so it is told of it instead.
      reach += 1;
      continue;
    }
    const failure = failureOf(end.error, secretsOf(settings), now());
    const kept = cut ? [run.answered(cut)] : [];
    if (!failure.retryable || retry >= maxRetries || (cut && !repeatsShown)) {
      return { type: "ended", ending: run.failed(providerError(failure, model), kept) };
    }
    if (kept.length > 0) yield { type: "events", events: kept };
    retry += 1;
    await pause(waitBefore(retry, failure), signal);
  }
}

async function wholeAnswer(run: RunState, answer: Answer, durationMs: number): Promise<RoundEnd> {
  const { model, settings, output, maxRounds = 10 } = run.input;
  const reason = answer.finish?.unified;
  const content = answer.content((wanted) => run.nameCall(wanted));
  const calls = content.filter((block) => block.type === "tool_call");
  const fail = (message: string, turn: Partial<Assistant>, details: Record<string, unknown>): RoundEnd => {
    const error = providerError({ message, retryable: true }, model);
    const ending = run.failed({ ...error, details }, [run.answered(turnOf(run, answer, { content, durationMs, ...turn }))]);
    return { type: "ended", ending };
  };
  if (reason === "length") {
    // Calls of an answer that was cut are never acted on, so the log has none that wait.
    const cut = { status: "incomplete", content: content.filter((block) => block.type !== "tool_call") } as const;
    const details = { reason: "max_tokens", configuredMaxTokens: settings?.maxOutputTokens ?? null };
    return fail("the model's answer was cut at its limit of tokens", cut, details);
  }
  if (calls.length > 0) {
    const turn = run.answered(turnOf(run, answer, { content, durationMs }));
    if (run.actionRounds < maxRounds) return { type: "calls", message: turn, calls };
    const message = `the run asked for more than ${maxRounds} rounds of actions`;
    return { type: "ended", ending: run.failed({ code: "execution_failed", message, retryable: false }, [turn]) };
  }
  const text = textOf(content);
  if (reason === "content-filter" && text.trim() === "") {
    return fail("the provider's content filter withheld the answer", { status: "incomplete" }, { reason: "content_filter" });
  }
  if (!output) return { type: "ended", ending: run.completed(run.answered(turnOf(run, answer, { content, durationMs })), text) };
  const read = await readOutput(text, output, run.input.signal);
  const interrupted = "fault" in read ? run.interrupted(turnOf(run, answer, { content, durationMs })) : undefined;
  if (interrupted) return { type: "ended", ending: interrupted };
  if ("fault" in read) return fail(`the model's answer is not the output that was asked for: ${read.fault}`, {}, { reason: "invalid_output" });
  const turn = run.answered(turnOf(run, answer, { content, durationMs, parsedOutput: read.value }));
  return { type: "ended", ending: run.completed(turn, read.value) };
}

/** Instructions may be made of variables, of which one may be missing. */
function read(instructions: () => string): { instructions: string } | { error: EventError } {
  try {
    return { instructions: instructions() };
  } catch (error) {
    const message = faultOf(error, "the instructions could not be made");
    return { error: { code: error instanceof OrchaError ? error.code : "execution_failed", message, retryable: false } };
  }
}

function turnOf({ input: { model } }: RunState, answer: Answer, said: Partial<Assistant> & { content: AssistantContent[] }): Assistant {
  const stopReason = answer.finish === undefined ? undefined : stopReasons[answer.finish.unified];
  return {
    role: "assistant",
    status: "completed",
    provider: model.provider,
    model: model.modelId,
    ...(answer.responseId === undefined ? {} : { responseId: answer.responseId }),
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(answer.usage === undefined ? {} : { usage: answer.usage }),
    ...said,
  };
}

const stopReasons = {
  stop: "end_turn",
  "tool-calls": "tool_call",
  length: "max_tokens",
  "content-filter": "content_filter",
  error: "unknown",
  interrupted: "unknown",
  other: "unknown",
} as const;

function textOf(content: readonly AssistantContent[]): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
}
