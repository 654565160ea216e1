import type { JSONObject, SharedV4ProviderMetadata, SharedV4ProviderOptions } from "@ai-sdk/provider";
import { copyJson, findJsonFault, isPlainObject, maxJsonDepth, type Replay, type Turn } from "@orcha/contract";

/** The model that a prompt is for. */
export interface ModelName {
  /** As the AI SDK names it, such as "openai.responses". */
  provider: string;
  modelId: string;
}

type Assistant = Extract<Turn, { role: "assistant" }>;

/** Levels of the event around a capsule: data, content, block, replay, and the capsule's own. */
const levelsAround = 5;

/** Keeps what a provider needs back with a part. Of several keys the model's own wins. */
export function capsuleOf(metadata: SharedV4ProviderMetadata | undefined, model: ModelName): { replay: Replay } | undefined {
  const entries = Object.entries(metadata ?? {}).filter(([, data]) => Object.keys(data).length > 0);
  const entry = entries.find(([key]) => isFamily(key, model.provider)) ?? entries[0];
  if (!entry || findJsonFault(entry[1], maxJsonDepth - levelsAround)) return undefined;
  const [providerId, data] = entry;
  return { replay: { providerId, opaqueData: copyJson(data) } };
}

/** What a block says to the provider that made it; nothing where the model is another one. */
export function optionsOf(replay: Replay | undefined, turn: Assistant, model: ModelName): SharedV4ProviderOptions | undefined {
  if (!replay || !isPlainObject(replay.opaqueData) || !isBy(turn, model)) return undefined;
  const { providerId = familyOf(turn.provider ?? ""), opaqueData } = replay;
  if (!isFamily(providerId, model.provider) && turn.provider !== model.provider) return undefined;
  const { redacted, ...data } = opaqueData;
  const named = redacted === undefined || providerId !== "anthropic" ? opaqueData : { ...data, redactedData: redacted };
  // What the log holds is JSON.
  return { [providerId]: named as JSONObject };
}

/** Tells whether the model is the one that made the turn, as far as the turn says. */
function isBy(turn: Assistant, model: ModelName): boolean {
  if (turn.provider !== undefined && !isFamily(turn.provider, model.provider)) return false;
  return turn.model === undefined || turn.model === model.modelId;
}

function familyOf(provider: string): string {
  return (provider.split(".")[0] ?? "").trim();
}

/** Some packages name their metadata in camel case: `my-provider` is `myProvider` there. */
function isFamily(name: string, provider: string): boolean {
  return plain(familyOf(name)) === plain(familyOf(provider));
}

function plain(name: string): string {
  return name.replace(/[-_\s]/g, "").toLowerCase();
}

/**
 * Tells whether OpenAI can read a turn's thinking again. It keeps none for us, so an item without encrypted content is
 * one that it would not find; the content of an item of several parts stands on one of them.
 */
export function isReadable(options: SharedV4ProviderOptions, all: readonly (SharedV4ProviderOptions | undefined)[]): boolean {
  for (const [key, { itemId }] of Object.entries(options)) {
    if (itemId === undefined) continue;
    return all.some((other) => other?.[key]?.["itemId"] === itemId && typeof other[key]["reasoningEncryptedContent"] === "string");
  }
  return true;
}
