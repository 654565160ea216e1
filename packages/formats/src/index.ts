// What a file is.
export { detectFormat, detectionBytes, type FileFormat } from "./detect.ts";

// Readers and writers, each over a stream.
export { readSessionLog, writeSessionLog } from "./session-log.ts";
export { bundleVersion, readBundle, writeBundle, type BundlePart, type BundleSession, type BundleSource } from "./bundle.ts";
export { maxMessagesLength, readMessages, writeMessages } from "./messages.ts";
export { maxLineBytes, type Source } from "./lines.ts";

// What they say.
export { FormatError } from "./error.ts";
export { FormatFindings, type FormatFinding, type FormatFindingCode } from "./finding.ts";
