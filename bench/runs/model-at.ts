import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { TempoName } from "./tempo.ts";

/** The model of a tempo on the model server. */
export function modelAt(modelPort: number, tempo: TempoName) {
  const baseURL = `http://127.0.0.1:${modelPort}/v1`;
  return createOpenAICompatible({ name: "bench", baseURL, apiKey: "bench", includeUsage: true })(tempo);
}
