import { describe, type Part } from "./openapi-convert.ts";
import { errorResponses, refTo, signedHeaders } from "./openapi-operations.ts";
import { importQuery } from "./rest-import.ts";

const texts: Record<keyof typeof importQuery.entries, string> = {
  agent: "The agent that the sessions go to; by default the one that the file names. A list of messages names none.",
  sessionId: "The id of the one session that the file holds; by default the file's own.",
  newIds: "`true` gives a session a new id where its own is taken; by default the import is refused then.",
  format: "What the file is; by default that is found out from its first bytes.",
};

const jsonLines: Part = { type: "string", description: "A session log or a bundle, a JSON value a line." };

/** Describes the import of a file. */
export const importPath: Part = {
  post: {
    operationId: "importSessions",
    tags: ["Writing"],
    summary: "Import a file of sessions",
    description:
      "The body is a session log, a bundle, or a list of messages, of up to 10 GiB unless the server says otherwise. It is imported " +
      "whole or not at all: nobody sees anything before all of it is read. A damaged file is `invalid_input` with `details.line`.\n\n" +
      "Takes no `Idempotency-Key`: a session that exists, or did, is never imported twice unless `newIds` says so.\n\n" +
      "Needs the scope `admin`.",
    parameters: Object.entries(importQuery.entries).map(([name, schema]) => ({
      name,
      in: "query",
      description: texts[name as keyof typeof texts],
      schema: describe(schema, "input"),
    })),
    requestBody: {
      required: true,
      content: {
        "application/x-ndjson": { schema: jsonLines },
        "application/jsonl": { schema: jsonLines },
        "application/json": { schema: { type: "array", items: refTo("AgentMessage") } },
      },
    },
    responses: {
      201: { description: "Imported.", headers: signedHeaders, content: { "application/json": { schema: refTo("ImportReport") } } },
      ...errorResponses,
    },
  },
};

/** Schemas that only the import needs. */
export const importSchemas: Readonly<Record<string, Part>> = {
  ImportReport: {
    description: "What an import made, and everything that is not as the file had it.",
    type: "object",
    properties: {
      format: { type: "string", enum: importQuery.entries.format.wrapped.options },
      sessions: { type: "array", items: refTo("ImportedSession") },
      events: { type: "integer" },
      findings: { type: "array", description: "The first ones of each code.", items: { anyOf: [refTo("FileFinding"), refTo("Finding")] } },
      totals: { type: "object", description: "How often each code was found.", additionalProperties: { type: "integer" } },
    },
    required: ["format", "sessions", "events", "findings", "totals"],
  },
  ImportedSession: {
    description: "A session that an import made.",
    type: "object",
    properties: {
      agent: { type: "string" },
      sessionId: { type: "string" },
      events: { type: "integer" },
      formerId: { type: "string", description: "Its id in the file, where that was taken." },
    },
    required: ["agent", "sessionId", "events"],
  },
  FileFinding: {
    description: "What a reader of a file did not keep as it was, or what a person should know of.",
    type: "object",
    properties: {
      severity: { type: "string", enum: ["warning", "info"] },
      code: { type: "string" },
      line: { type: "integer", minimum: 1 },
      message: { type: "string" },
      fix: { type: "string" },
    },
    required: ["severity", "code", "line", "message"],
  },
};
