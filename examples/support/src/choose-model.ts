import { resolveModel } from "@orcha/agent/providers";
import { offlineModel } from "./offline-model.ts";

const keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"];

/** The model of the environment, or the scripted one where there is no key; and a line that says which. */
export async function chooseModel() {
  if (!["ORCHA_MODEL", ...keys].some((name) => process.env[name])) {
    return { model: offlineModel(), words: `No provider key is set, so a script answers offline; ${keys.join(", ")} or ORCHA_MODEL change that.` };
  }
  const model = await resolveModel();
  return { model, words: `${model.modelId} of ${model.provider} answers.` };
}
