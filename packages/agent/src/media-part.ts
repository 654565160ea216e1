import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from "@ai-sdk/provider";
import type { FileContent, MediaContent } from "@orcha/contract";
import { wellFormed } from "./well-formed.ts";

/** Which media go to the model as such; the others are told of in words. */
export type MediaReach = "all" | "images" | "none";

/** Writes media for the prompt. A path, and a URI that no provider can fetch, is told of and never opened. */
export function mediaPart(block: MediaContent | FileContent, reach: MediaReach): LanguageModelV4TextPart | LanguageModelV4FilePart {
  if (block.type === "file") return told("file", block.filePath);
  const { fileUri: uri, mimeType: mediaType } = block;
  if (reach === "none" || (reach === "images" && !mediaType.startsWith("image"))) return told(block.type, uri);
  if (/^https?:/i.test(uri) && URL.canParse(uri)) return { type: "file", data: { type: "url", url: new URL(uri) }, mediaType };
  const data = base64Of(uri);
  return data === undefined ? told(block.type, uri) : { type: "file", data: { type: "data", data }, mediaType };
}

function told(what: string, place: string): LanguageModelV4TextPart {
  const shown = /^data:/i.test(place) ? "data" : place;
  return { type: "text", text: `[${what}: ${wellFormed(shown)}]` };
}

/** The base64 of a `data:` URI; nothing where it is none, or is written as percent-encoded text that is damaged. */
function base64Of(uri: string): string | undefined {
  const parts = /^data:([^,]*),(.*)$/is.exec(uri);
  const [, head = "", body = ""] = parts ?? [];
  if (!parts) return undefined;
  if (/;\s*base64\s*$/i.test(head)) return body;
  try {
    return base64(new TextEncoder().encode(decodeURIComponent(body)));
  } catch {
    return undefined;
  }
}

export function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
