import { contract, errorTable, eventDataSchemas, maxAppend, type OperationName } from "@orcha/contract";
import type { GenericSchema } from "valibot";
import { describe, type Part } from "./openapi-convert.ts";
import { fieldsOf, inputSchemaOf } from "./input.ts";
import { hasEtag, statusOf } from "./rest-answer.ts";
import { isStreamed, type StreamedName } from "./streaming.ts";
import { parameterKind } from "./rest-input.ts";
import type { RestRoute } from "./rest-routes.ts";

/** Refers to a named schema. */
export function refTo(name: string): Part {
  return { $ref: `#/components/schemas/${name}` };
}

/** The schema of each operation's answer: a new operation needs a line here. */
const answers: Record<OperationName, Part | undefined> = {
  create: refTo("SessionSnapshot"),
  restore: refTo("RestoredSession"),
  append: refTo("AppendReceipt"),
  run: refTo("RunResult"),
  resume: { anyOf: [refTo("RunResult"), refTo("RecordedAnswer")] },
  pause: refTo("SessionSnapshot"),
  stop: refTo("SessionSnapshot"),
  get: refTo("SessionSnapshot"),
  list: refTo("SessionList"),
  update: refTo("SessionSnapshot"),
  complete: refTo("SessionSnapshot"),
  fork: refTo("SessionSnapshot"),
  delete: undefined,
  history: refTo("SessionHistory"),
  events: refTo("SessionEvents"),
  subagentHistory: refTo("SessionHistory"),
  subagentEvents: refTo("SessionEvents"),
  messages: { type: "array", items: refTo("AgentMessage") },
  tail: refTo("TailPiece"),
};

/** Fields that the contract leaves open, since the server reads them with paths and findings of its own. */
const openFields: Readonly<Record<string, Part>> = {
  messages: { type: "array", items: refTo("AgentMessage") },
  events: { type: "array", minItems: 1, maxItems: maxAppend, items: refTo("EventInput") },
  toolResults: { type: "array", items: refTo("ToolResult") },
  variables: { type: "object", additionalProperties: { type: "string" } },
  content: {
    description: "A text that isn't blank, a content block, or a list of them.",
    anyOf: [{ type: "string" }, refTo("MessageContent"), { type: "array", minItems: 1, maxItems: 100, items: refTo("MessageContent") }],
  },
  clientCapabilities: { description: "The client actions that this caller can answer; by default all.", type: "array", items: { type: "string" } },
};

/** Schemas of input that only the document needs. */
export const inputSchemas: Readonly<Record<string, Part>> = {
  EventInput: {
    description: "An event to append: anything but `session.*`. Its `data` is that of the `SessionEvent` of the same type.",
    type: "object",
    properties: {
      type: { type: "string", enum: Object.keys(eventDataSchemas).filter((type) => !type.startsWith("session.")) },
      data: { type: "object" },
      timestamp: { type: "string", format: "date-time" },
      run: { type: "integer", minimum: 1 },
    },
    required: ["type", "data"],
  },
  ToolResult: {
    description: "An answer to a client action, or its denial.",
    oneOf: [
      {
        type: "object",
        properties: { callId: { type: "string" }, output: {}, isError: { type: "boolean" } },
        required: ["callId", "output"],
      },
      {
        type: "object",
        properties: { callId: { type: "string" }, deny: { type: "boolean", const: true }, reason: { type: "string" } },
        required: ["callId", "deny"],
      },
    ],
  },
};

const parameterTexts: Readonly<Record<string, string>> = {
  page: "1 is the newest page.",
  pageSize: "How many there are on a page.",
  throughSequence: "The log position of the view; by default the newest.",
  after: "The event that the reader was told of last; by default the newest.",
  cursor: "The `nextCursor` of an earlier answer.",
  metadata: 'A JSON object, such as `{"tier":"paid"}`: each key must have exactly this value.',
};

/** Describes the operations of one path. */
export function describeRoute({ path, methods }: RestRoute): Part {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const described = [...methods].map(([method, operations]) => [method.toLowerCase(), describeOperations(operations, names)]);
  return { parameters: names.map((name) => ({ $ref: `#/components/parameters/${name}` })), ...Object.fromEntries(described) };
}

function describeOperations(operations: readonly OperationName[], names: readonly string[]): Part {
  const [first = "get"] = operations;
  const { route, meta } = contract[first]["~orpc"];
  const reads = route.method === "GET";
  const fields = Object.entries(fieldsOf(first)).filter(([name]) => !names.includes(name));
  const isKnowable = reads && hasEtag(first);
  const parameters = [
    ...(reads ? fields.map(([name, schema]) => parameter(name, schema)) : []),
    ...(meta.write ? writeHeaders : []),
    ...(isKnowable ? [header("IfNoneMatch")] : []),
  ];
  // The one route with two operations: a `create` with messages is a `restore`.
  const described = operations.map((name) => contract[name]["~orpc"].route.description).join("\n\nWith `messages` instead: ");
  return {
    operationId: first,
    tags: [meta.write ? "Writing" : "Reading"],
    summary: operations.map((name) => contract[name]["~orpc"].route.summary).join(", or: "),
    description: `${described}\n\nNeeds the scope \`${meta.scope}\`.`,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(reads || first === "delete" ? {} : { requestBody: body(operations, names) }),
    responses: { [statusOf(first)]: success(operations), ...(isKnowable ? { 304: unchanged } : {}), ...errorResponses },
  };
}

function parameter(name: string, schema: GenericSchema): Part {
  const description = parameterTexts[name];
  return {
    name,
    in: "query",
    ...(description === undefined ? {} : { description }),
    schema:
      parameterKind(schema) === "json"
        ? { type: "string", contentMediaType: "application/json", contentSchema: refTo("Metadata") }
        : describe(schema, "input"),
  };
}

function header(name: string): Part {
  return { $ref: `#/components/parameters/${name}` };
}

const writeHeaders: readonly Part[] = [header("IdempotencyKey"), header("IfMatch")];

/** Refers to what an answer is known by. */
export const tag: Part = { $ref: "#/components/headers/ETag" };

/** The answer to whoever has it already. */
export const unchanged: Part = { description: "As you have it.", headers: { ETag: tag } };

function body(operations: readonly OperationName[], names: readonly string[]): Part {
  const bodies = operations.map((operation) => bodyOf(operation, names));
  const [only, second] = bodies;
  const schema = second === undefined ? only : { anyOf: bodies };
  const required = bodies.every((part) => Array.isArray(part["required"]) && part["required"].length > 0);
  return { required, content: { "application/json": { schema } } };
}

function bodyOf(operation: OperationName, names: readonly string[]): Part {
  const whole = describe(inputSchemaOf(operation), "input");
  const properties = Object.entries(whole["properties"] as Record<string, Part>).filter(([name]) => !names.includes(name));
  const required = (whole["required"] as readonly string[]).filter((name) => !names.includes(name));
  return {
    title: contract[operation]["~orpc"].route.summary,
    type: "object",
    properties: Object.fromEntries(properties.map(([name, schema]) => [name, openFields[name] ?? schema])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** What every answer carries. */
export const signedHeaders: Part = {
  "Orcha-Version": { $ref: "#/components/headers/OrchaVersion" },
  "X-Request-Id": { $ref: "#/components/headers/RequestId" },
};

function success(operations: readonly OperationName[]): Part {
  const [first = "get"] = operations;
  const schemas = operations.flatMap((name) => answers[name] ?? []);
  const schema = schemas.length > 1 ? { anyOf: schemas } : schemas[0];
  const status = statusOf(first);
  const headers = {
    ...signedHeaders,
    ...(hasEtag(first) ? { ETag: tag } : {}),
    ...(status === 201 ? { Location: { $ref: "#/components/headers/Location" } } : {}),
  };
  return {
    description: status === 201 ? "Made." : status === 204 ? "Gone." : "The answer.",
    headers,
    ...(schema === undefined ? {} : { content: { "application/json": { schema }, ...(isStreamed(first) ? streamOf(first) : {}) } }),
  };
}

/** What a request that accepts it gets instead. */
function streamOf(operation: StreamedName): Part {
  const description =
    operation === "tail"
      ? "Each frame as an event of its type's name; items and snapshots have an `id`, which a `Last-Event-ID` goes on from. A " +
        "stream without `end` is to be opened again."
      : "Events `started`, `frame` (the answer in the making), `result` (as the JSON answer), `evaluations`, and `end`; or " +
        "`error` with an `ErrorBody`. A stream without `end` was cut: the same request under the same `Idempotency-Key` goes on.";
  return { "text/event-stream": { schema: { type: "string", description } } };
}

/** Every status that an error may have, with its codes. */
export const errorStatuses: ReadonlyMap<number, readonly string[]> = Object.entries(errorTable).reduce(
  (all, [code, { status }]) => all.set(status, [...(all.get(status) ?? []), code]),
  new Map<number, readonly string[]>(),
);

/** Refers to the answer of each of these statuses. */
export const errorResponses: Part = Object.fromEntries(
  [...errorStatuses.keys()].sort((left, right) => left - right).map((status) => [status, { $ref: `#/components/responses/Error${status}` }]),
);
