import type { LanguageModelV4 } from "@ai-sdk/provider";
import { OrchaError } from "@orcha/contract";

/** A provider whose package is loaded when one of its models is named. */
interface Provider {
  package: string;
  keyName: string;
  /** The model where only the provider's key is set. */
  defaultModel: string;
  load: (modelId: string) => Promise<LanguageModelV4>;
}

const providers: Readonly<Record<string, Provider>> = {
  openai: {
    package: "@ai-sdk/openai",
    keyName: "OPENAI_API_KEY",
    defaultModel: "gpt-5-mini",
    load: async (modelId) => (await import("@ai-sdk/openai").catch(notThere)).createOpenAI()(modelId),
  },
  anthropic: {
    package: "@ai-sdk/anthropic",
    keyName: "ANTHROPIC_API_KEY",
    defaultModel: "claude-haiku-4-5",
    load: async (modelId) => (await import("@ai-sdk/anthropic").catch(notThere)).createAnthropic()(modelId),
  },
  google: {
    package: "@ai-sdk/google",
    keyName: "GOOGLE_GENERATIVE_AI_API_KEY",
    defaultModel: "gemini-2.5-flash",
    load: async (modelId) => (await import("@ai-sdk/google").catch(notThere)).createGoogle()(modelId),
  },
};

/** Families of names that say their provider by themselves. */
const families: readonly [RegExp, string][] = [
  [/^claude-/, "anthropic"],
  [/^gemini-/, "google"],
];

/**
 * Finds the model that a name stands for: `provider/model`, or a model's name alone. Without one, `ORCHA_MODEL` names
 * it, else the first provider whose key is set gives its usual one. With `ORCHA_BASE_URL` every name that leads to no
 * provider by its prefix is one of the OpenAI-compatible server there, with `ORCHA_API_KEY` as its key.
 * Throws `OrchaError` (`invalid_input`) that says what to set or to install.
 */
export async function resolveModel(reference: string | undefined = environment("ORCHA_MODEL")): Promise<LanguageModelV4> {
  const baseUrl = environment("ORCHA_BASE_URL");
  if (reference === undefined) return usualModel(baseUrl);
  const slash = reference.indexOf("/");
  const prefix = reference.slice(0, Math.max(slash, 0));
  if (Object.hasOwn(providers, prefix)) return load(prefix, reference.slice(slash + 1));
  if (baseUrl !== undefined) return compatible(reference, baseUrl);
  if (slash >= 0) throw unusable(`${quote(reference)} names no provider that is known: ${Object.keys(providers).join(", ")}, or set ORCHA_BASE_URL`);
  return load(families.find(([family]) => family.test(reference))?.[1] ?? "openai", reference);
}

async function usualModel(baseUrl: string | undefined): Promise<LanguageModelV4> {
  if (baseUrl !== undefined) throw unusable("ORCHA_BASE_URL is set, and ORCHA_MODEL must name a model of that server");
  const found = Object.entries(providers).find(([, { keyName }]) => environment(keyName) !== undefined);
  if (found) return load(found[0], found[1].defaultModel);
  const keys = Object.values(providers).map(({ keyName }) => keyName);
  throw unusable(`there is no model: give the agent one, call setDefaultModel(), or set ORCHA_MODEL, or one of ${keys.join(", ")}`);
}

async function load(name: string, modelId: string): Promise<LanguageModelV4> {
  const provider = providers[name];
  if (!provider || modelId === "") throw unusable(`${quote(`${name}/${modelId}`)} names no model`);
  return orInstall(provider.package, `${name}/${modelId}`, () => provider.load(modelId));
}

async function compatible(modelId: string, baseURL: string): Promise<LanguageModelV4> {
  return orInstall("@ai-sdk/openai-compatible", modelId, async () => {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible").catch(notThere);
    const apiKey = environment("ORCHA_API_KEY");
    return createOpenAICompatible({ name: "compatible", baseURL, includeUsage: true, ...(apiKey === undefined ? {} : { apiKey }) })(modelId);
  });
}

async function orInstall(package_: string, reference: string, loadModel: () => Promise<LanguageModelV4>): Promise<LanguageModelV4> {
  try {
    return await loadModel();
  } catch (error) {
    if (!isMissing(error, package_)) throw error;
    throw unusable(`the model ${quote(reference)} needs the package ${package_}: npm install ${package_}`, error);
  }
}

/** Hands a failure on. Bundlers let a package be missing only where somebody says that its failure is handled. */
function notThere(error: unknown): never {
  throw error;
}

/** Other packages may be missing as well, and installing this one wouldn't help. */
function isMissing(error: unknown, package_: string): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND" && error.message.includes(`'${package_}'`);
}

/** Read without a Node built-in, so that this loads where there is no environment. */
function environment(name: string): string | undefined {
  const value = globalThis.process?.env?.[name]?.trim();
  return value === "" ? undefined : value;
}

function unusable(message: string, cause?: unknown): OrchaError {
  return new OrchaError("invalid_input", message, cause === undefined ? {} : { cause });
}

function quote(text: string): string {
  return JSON.stringify(text);
}
