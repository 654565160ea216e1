import type { LanguageModelV4 } from "@ai-sdk/provider";

/** A model, or the name of one, such as "openai/gpt-5-mini". */
export type ModelReference = LanguageModelV4 | string;

let current: ModelReference | undefined;

/** Sets the model of every agent of this program that names none; without one, the environment's is used again. */
export function setDefaultModel(model: ModelReference | undefined): void {
  current = model;
}

export function defaultModel(): ModelReference | undefined {
  return current;
}
