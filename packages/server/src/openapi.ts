import { errorTable } from "@orcha/contract";
import { protocolVersion } from "./headers.ts";
import { describeNamed, type Part } from "./openapi-convert.ts";
import { importPath, importSchemas } from "./openapi-import.ts";
import { describeRoute, errorResponses, errorStatuses, inputSchemas, refTo, signedHeaders, tag, unchanged } from "./openapi-operations.ts";
import { restRoutes } from "./rest-routes.ts";

/** An OpenAPI document, as far as the rest of the server looks into it. */
export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string; license: Part };
  paths: Record<string, Part>;
  components: { schemas: Record<string, Part>; [kind: string]: Part };
  [field: string]: unknown;
}

/** Describes the REST interface; the same on every server, whatever its agents. */
export function createDocument(): OpenApiDocument {
  return {
    openapi: "3.1.1",
    info: {
      title: "Orcha",
      version: protocolVersion,
      description:
        "Keeps the conversations that people have with AI agents, and opens them again. Every operation answers plain JSON; " +
        "every refusal is an `ErrorBody`. Reads and writes take `X-Request-Id` and give it back.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/api" }],
    security: [{ bearer: [] }],
    tags: [
      { name: "Reading", description: "Sessions, their history, their log." },
      { name: "Writing", description: "All of these but the import take `Idempotency-Key` and `If-Match`." },
    ],
    paths: {
      "/agents": agentsPath,
      "/import": importPath,
      ...Object.fromEntries(restRoutes().map((route) => [route.path, describeRoute(route)])),
    },
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer", description: "Not needed on a server without `auth`." } },
      parameters,
      headers,
      responses: Object.fromEntries([...errorStatuses].map(([status, codes]) => [`Error${status}`, errorResponse(status, codes)])),
      schemas: { ...describeNamed(), ...inputSchemas, ...importSchemas, Definitions: definitions },
    },
  };
}

const agentsPath: Part = {
  get: {
    operationId: "agents",
    tags: ["Reading"],
    summary: "Describe the agents",
    description: "Every agent of the server, with its schemas as JSON Schema.\n\nNeeds the scope `read`.",
    parameters: [{ $ref: "#/components/parameters/IfNoneMatch" }],
    responses: {
      200: { description: "The answer.", headers: { ...signedHeaders, ETag: tag }, content: { "application/json": { schema: refTo("Definitions") } } },
      304: unchanged,
      ...errorResponses,
    },
  },
};

const definitions: Part = {
  description: "The agents of a server.",
  type: "object",
  properties: {
    version: { type: "string", description: "A digest: equal definitions have equal versions." },
    agents: { type: "object", additionalProperties: { type: "object" } },
  },
  required: ["version", "agents"],
};

const parameters: Part = {
  agent: { name: "agent", in: "path", required: true, description: "The agent's key.", schema: { type: "string" } },
  sessionId: { name: "sessionId", in: "path", required: true, description: "The session's id.", schema: { type: "string" } },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description: "Makes a repeated call answer what the first one did, for 24 hours: 1 to 255 visible ASCII characters.",
    schema: { type: "string", minLength: 1, maxLength: 255 },
  },
  IfMatch: {
    name: "If-Match",
    in: "header",
    description: 'The sequence that the session must have, as in its `ETag`: `"42"` or `42`. Else `sequence_conflict`.',
    schema: { type: "string", pattern: '^((W/)?"[1-9][0-9]{0,14}(-[a-z]+)?"|[1-9][0-9]{0,14})$' },
  },
  IfNoneMatch: {
    name: "If-None-Match",
    in: "header",
    description: "The `ETag` of an earlier answer at this path: where it would be the same again, the answer is 304 without a body.",
    schema: { type: "string" },
  },
};

const headers: Part = {
  OrchaVersion: { description: "The version of the protocol.", schema: { type: "string" } },
  RequestId: { description: "The request's name, for logs: the caller's, or one made up.", schema: { type: "string" } },
  ETag: {
    description:
      "What the answer is known by, for `If-None-Match`: of a session its sequence in quotes, which `If-Match` takes too. With `-gzip` " +
      "behind it where the answer is compressed.",
    schema: { type: "string" },
  },
  Location: { description: "Where the new session is.", schema: { type: "string" } },
  RetryAfter: { description: "Seconds to wait, where the server knows.", schema: { type: "integer" } },
};

function errorResponse(status: number, codes: readonly string[]): Part {
  const retryable = codes.some((code) => errorTable[code as keyof typeof errorTable].retryable);
  return {
    description: codes.map((code) => `\`${code}\``).join(", "),
    ...(retryable && status !== 409 ? { headers: { "Retry-After": { $ref: "#/components/headers/RetryAfter" } } } : {}),
    content: { "application/json": { schema: refTo("ErrorBody") } },
  };
}
