import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import { argumentsData, type AssistantContent, type MediaContent, type Usage } from "@orcha/contract";
import { capsuleOf, type ModelName } from "./capsule.ts";
import { madeMedia } from "./made-media.ts";
import { usageOf } from "./usage.ts";

interface Draft {
  type: "text" | "reasoning";
  text: string;
  metadata: SharedV4ProviderMetadata;
}

interface Call {
  type: "tool_call";
  callId: string;
  name: string;
  input: string;
  metadata: SharedV4ProviderMetadata;
}

/** The longest that the log takes. */
const longestCallId = 512;
const longestName = 200;

/** Gathers the parts of a model's stream into the blocks of a turn, in the order in which they began. */
export class Answer {
  finish: LanguageModelV4FinishReason | undefined;
  usage: Usage | undefined;
  responseId: string | undefined;
  private readonly blocks: (Draft | Call | MediaContent)[] = [];
  /** Blocks that still grow, by their type and the stream's id. */
  private readonly open = new Map<string, Draft>();
  private shown = "";
  /** The block that people saw more of last. */
  private newest: Draft | undefined;
  private readonly model: ModelName;

  constructor(model: ModelName) {
    this.model = model;
  }

  /** Everything of the answer that people see. */
  get text(): string {
    return this.shown;
  }

  /** Takes in a part. Answers what people see more of by it. */
  add(part: LanguageModelV4StreamPart): string {
    switch (part.type) {
      case "text-start":
      case "reasoning-start":
        this.begin(part.type === "text-start" ? "text" : "reasoning", part.id, part.providerMetadata);
        break;
      case "text-delta":
        return this.extend("text", part.id, said(part.delta), part.providerMetadata);
      case "reasoning-delta":
        this.extend("reasoning", part.id, said(part.delta), part.providerMetadata);
        break;
      case "text-end":
      case "reasoning-end":
        this.extend(part.type === "text-end" ? "text" : "reasoning", part.id, "", part.providerMetadata);
        this.open.delete(`${part.type === "text-end" ? "text" : "reasoning"} ${part.id}`);
        break;
      case "file": {
        const media = madeMedia(part);
        if (media.type === "text") return this.say(this.draft("text"), media.text);
        this.blocks.push(media);
        break;
      }
      case "tool-call":
        // What the provider did by itself is part of its own answer.
        if (part.providerExecuted === true) break;
        this.blocks.push({
          type: "tool_call",
          callId: said(part.toolCallId),
          name: said(part.toolName),
          input: typeof part.input === "string" ? part.input : JSON.stringify(part.input ?? {}),
          metadata: part.providerMetadata ?? {},
        });
        break;
      case "response-metadata":
        this.responseId = said(part.id) || this.responseId;
        break;
      case "finish":
        if (typeof part.finishReason !== "object") {
          throw new TypeError("the model doesn't end its answer as specification v4 of the AI SDK says: its package is for another version");
        }
        this.finish = part.finishReason;
        this.usage = usageOf(part.usage);
        break;
      default:
    }
    return "";
  }

  /** The blocks so far; `nameCall` gives each call an id that the conversation doesn't have. */
  content(nameCall: (callId: string) => string): AssistantContent[] {
    return this.blocks.flatMap((block): AssistantContent[] => {
      if ("fileUri" in block) return [block];
      const capsule = capsuleOf(block.metadata, this.model);
      if (block.type === "tool_call") {
        const callId = nameCall(block.callId.slice(0, longestCallId));
        const name = block.name.slice(0, longestName) || "unnamed";
        return [{ type: "tool_call", callId, name, ...argumentsData(block.input), ...capsule }];
      }
      return block.text === "" && !capsule ? [] : [{ type: block.type, text: block.text, ...capsule }];
    });
  }

  /** What people saw, for an answer that was cut: thinking and calls are of use only whole. */
  visibleContent(): AssistantContent[] {
    return this.blocks.flatMap((block): AssistantContent[] => {
      if ("fileUri" in block) return [block];
      return block.type === "text" && block.text !== "" ? [{ type: "text", text: block.text }] : [];
    });
  }

  private draft(type: Draft["type"], metadata: SharedV4ProviderMetadata = {}): Draft {
    const draft: Draft = { type, text: "", metadata: { ...metadata } };
    this.blocks.push(draft);
    return draft;
  }

  private begin(type: Draft["type"], id: string, metadata?: SharedV4ProviderMetadata): Draft {
    const draft = this.draft(type, metadata);
    this.open.set(`${type} ${id}`, draft);
    return draft;
  }

  private extend(type: Draft["type"], id: string, delta: string, metadata: SharedV4ProviderMetadata = {}): string {
    const open = this.open.get(`${type} ${id}`);
    // What people saw stays in the order in which they saw it, also of a model that writes two texts at once.
    const draft = !open || (type === "text" && delta !== "" && this.isPast(open)) ? this.begin(type, id) : open;
    // A block's data comes in pieces: an id at its start, a signature at its end.
    for (const [key, data] of Object.entries(metadata)) draft.metadata[key] = { ...draft.metadata[key], ...data };
    if (type === "text") return this.say(draft, delta);
    draft.text += delta;
    return delta;
  }

  private say(draft: Draft, delta: string): string {
    draft.text += delta;
    this.shown += delta;
    if (delta !== "") this.newest = draft;
    return delta;
  }

  private isPast(draft: Draft): boolean {
    const { newest } = this;
    return newest !== undefined && newest !== draft && this.blocks.indexOf(newest) > this.blocks.indexOf(draft);
  }
}

/** A text of a model that may be written by hand, whatever the types say. */
function said(value: unknown): string {
  return typeof value === "string" ? value : "";
}
