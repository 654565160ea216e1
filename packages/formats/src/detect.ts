/** A kind of file that this package reads. */
export type FileFormat = "session-log" | "bundle" | "messages";

/** How many bytes `detectFormat` wants to see. */
export const detectionBytes = 512;

/** Tells what a file is from its first bytes; nothing where it is none that this package reads. */
export function detectFormat(firstBytes: Uint8Array | string): FileFormat | undefined {
  const text = (typeof firstBytes === "string" ? firstBytes : new TextDecoder().decode(firstBytes)).replace(/^\ufeff/, "").trimStart();
  if (text.startsWith("[")) return "messages";
  if (!text.startsWith("{")) return undefined;
  const line = text.split("\n", 1)[0] ?? "";
  if (/^\{\s*"format"\s*:\s*"orcha-bundle"/.test(line)) return "bundle";
  return /"(?:sequence|type|timestamp|data)"\s*:/.test(line) ? "session-log" : undefined;
}
