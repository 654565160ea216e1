import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { setDefaultModel } from "@orcha/agent/mobile";

// What the app around the samples has: its model, and a key-value store that outlives the page.
const { searchParams } = new URL(location.href);
setDefaultModel(createOpenAICompatible({ name: "local", baseURL: searchParams.get("models") ?? "" })("llama"));

export const store = {
  get: async (key: string): Promise<string> => localStorage.getItem(key) ?? "",
  set: async (key: string, value: string): Promise<void> => localStorage.setItem(key, value),
};

export function show(text: string): void {
  document.title = text;
}
