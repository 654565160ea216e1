import { invalidInput, OrchaError, sessionIdSchema, type Agents } from "@orcha/contract";
import * as v from "valibot";
import { authorise, type Authenticate } from "./auth.ts";
import { callerGone, withBody } from "./body-source.ts";
import type { Call } from "./call.ts";
import { schemaFault } from "./failure.ts";
import type { ImportOptions } from "./importing.ts";
import { jsonReply, type Reply } from "./reply.ts";
import type { Store } from "./store/store.ts";
import type { Surroundings } from "./surroundings.ts";

/** What an import over HTTP stands on. */
export interface RestImportParts {
  agents: Agents;
  store: Store;
  auth: Authenticate;
  surroundings: Surroundings;
  /** The largest file, in bytes. */
  maxBytes: number;
}

/** The query of an import: how the file in the body is taken. */
export const importQuery = v.strictObject({
  agent: v.optional(v.pipe(v.string(), v.nonEmpty("must not be empty"))),
  sessionId: v.optional(sessionIdSchema),
  newIds: v.optional(v.picklist(["true", "false"], "must be true or false")),
  format: v.optional(v.picklist(["session-log", "bundle", "messages"], "must be session-log, bundle or messages")),
});

/** What the body may be called: a browser sends none of these to another site without asking it first. */
export const importTypes = ["application/x-ndjson", "application/jsonl", "application/json"] as const;

/** Imports the file that is a request's body, whole or not at all. Throws as `importSessions` does. */
export async function answerImport({ auth, maxBytes, ...parts }: RestImportParts, request: Request): Promise<Reply> {
  if (request.method !== "POST") throw new OrchaError("invalid_input", `this path takes POST, not ${request.method}`);
  const call: Call = { principal: await authorise(auth, request, "admin") };
  const type = (request.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase();
  if (!importTypes.some((known) => known === type)) {
    throw new OrchaError("unsupported_format", `the body must be ${importTypes.join(", ")}`);
  }
  const options = await readQuery(request);
  // Most servers never import: they start without the readers of files.
  const { importSessions } = await import("./importing.ts");
  const { signal } = request;
  try {
    const report = await withBody(request, maxBytes, (body) => importSessions(parts, call, body, { ...options, signal }));
    return jsonReply(JSON.stringify(report), 201);
  } catch (error) {
    throw signal.aborted ? callerGone(error) : error;
  }
}

async function readQuery({ url }: Request): Promise<ImportOptions> {
  const given: Record<string, string> = {};
  for (const [key, value] of new URL(url).searchParams) {
    if (Object.hasOwn(given, key)) throw invalidInput([key], "is given more than once");
    Object.defineProperty(given, key, { value, enumerable: true });
  }
  const result = await importQuery["~standard"].validate(given);
  if (result.issues) throw schemaFault(result.issues);
  const { newIds, ...rest } = result.value;
  return { ...rest, newIds: newIds === "true" };
}
