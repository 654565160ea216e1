import type { JSONSchema7, LanguageModelV4CallOptions, LanguageModelV4FunctionTool, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { Answer } from "./answer.ts";
import type { ModelSettings, OutputFormat } from "./loop-input.ts";
import type { LoopStep } from "./loop-step.ts";
import type { LoopTool } from "./loop-tool.ts";
import type { MediaReach } from "./media-part.ts";
import { promptOf } from "./prompt.ts";
import type { RunState } from "./run-state.ts";
import { gaveUp, untilAborted } from "./waiting.ts";

/** How one call of the model ended. A call that the run's signal cut has failed as well; the signal says why. */
export type CallEnd = { isWhole: true } | { isWhole: false; error: unknown };

/** Says that a stream ended before its answer did: the same call may well do better. */
class BrokenStream extends Error {
  readonly isRetryable = true;
}

/** Asks the model once, and yields whenever people see more. What comes is gathered in `answer`. */
export async function* callModel(run: RunState, instructions: string, media: MediaReach, answer: Answer): AsyncGenerator<LoopStep, CallEnd> {
  const { model, signal } = run.input;
  const cut = new AbortController();
  try {
    const asked = Promise.resolve(model.doStream(callOptions(run, instructions, media, cut.signal)));
    const begun = await untilAborted(asked, signal);
    if (begun === gaveUp) {
      void asked.then(({ stream }) => stream.cancel()).catch(() => undefined);
      return failed(signal.reason);
    }
    const reader = begun.stream.getReader();
    // Whatever ends this call, the stream must not run on; how it takes that is its own affair.
    cut.signal.addEventListener("abort", () => void reader.cancel().catch(() => undefined), { once: true });
    for (;;) {
      const next = await untilAborted(reader.read(), signal);
      if (next === gaveUp) return failed(signal.reason);
      if (next.done) break;
      if (next.value.type === "error") return failed(next.value.error);
      const delta = answer.add(next.value);
      if (delta !== "") yield { type: "text", round: run.round, text: answer.text, delta };
    }
    const reason = answer.finish?.unified;
    if (reason === undefined || reason === "interrupted") return failed(new BrokenStream("the model's stream ended before its answer"));
    if (reason === "error") return failed(new BrokenStream("the model's answer ended with an error"));
    return { isWhole: true };
  } catch (error) {
    return failed(error);
  } finally {
    cut.abort();
  }
}

function failed(error: unknown): CallEnd {
  return { isWhole: false, error };
}

function callOptions({ input, turns, tools }: RunState, instructions: string, media: MediaReach, abortSignal: AbortSignal): LanguageModelV4CallOptions {
  const { settings = {}, output, model } = input;
  const { maxRetries: _maxRetries, providerOptions, ...call } = settings;
  return {
    ...call,
    prompt: promptOf({ instructions, turns, model, media, toolNames: [...tools.keys()] }),
    ...(tools.size === 0 ? {} : { tools: [...tools.values()].map(toolOf), toolChoice: { type: "auto" } }),
    ...(output ? { responseFormat: { type: "json", schema: schemaOf(output) } } : {}),
    providerOptions: withDefaults(providerOptions),
    abortSignal,
  };
}

function toolOf({ name, description, inputSchema }: LoopTool): LanguageModelV4FunctionTool {
  return { type: "function", name, ...(description === undefined ? {} : { description }), inputSchema: schemaOf({ schema: inputSchema }) };
}

function schemaOf({ schema }: Pick<OutputFormat, "schema">): JSONSchema7 {
  const { $schema: _dialect, ...rest } = schema;
  return rest;
}

/** The log is what keeps a conversation: OpenAI is asked to store none of it and to hand out its thinking sealed. */
function withDefaults(given: ModelSettings["providerOptions"]): SharedV4ProviderOptions {
  return { ...given, openai: { store: false, ...given?.["openai"] } };
}
