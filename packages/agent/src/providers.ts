import type { LanguageModelV4 } from "@ai-sdk/provider";
export async function resolveModel(_reference?: LanguageModelV4 | string): Promise<LanguageModelV4> {
  throw new Error("no model");
}
