import type { LanguageModelV4File } from "@ai-sdk/provider";
import { maxDataUriLength, type MediaContent, type TextContent } from "@orcha/contract";
import { base64 } from "./media-part.ts";

const kinds = ["image", "video", "audio"] as const;

/** Keeps what a model made by its URI. What is too large for one is told of: nobody shall take the answer for all of it. */
export function madeMedia({ mediaType: mimeType, data }: LanguageModelV4File): MediaContent | TextContent {
  const type = kinds.find((kind) => mimeType.startsWith(kind)) ?? "url";
  const fileUri = data.type === "url" ? data.url.href : dataUri(mimeType, data.data);
  if (fileUri !== undefined && fileUri.length <= maxDataUriLength) return { type, mimeType, fileUri };
  return { type: "text", text: `[${type}: ${mimeType}, too large to be kept]` };
}

function dataUri(mimeType: string, data: string | Uint8Array): string | undefined {
  if (data.length > maxDataUriLength) return undefined;
  return `data:${mimeType};base64,${typeof data === "string" ? data : base64(data)}`;
}
