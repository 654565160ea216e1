import { readFileSync } from "node:fs";
import { join } from "node:path";
import { contract, errorTable, type OperationName } from "@orcha/contract";
import { memoryStore } from "@orcha/server";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { surroundings } from "../harness.ts";
import { cases, implementations, seed, seedChild } from "./cases.ts";
import { bothOf, operations, requestOf } from "./rest.ts";

interface Described {
  operationId: string;
  requestBody?: { content: { "application/json": { schema: object } } };
  responses: Record<string, { $ref?: string; content?: { "application/json": { schema: object } } }>;
}

interface Document {
  openapi: string;
  paths: Record<string, Record<string, Described>>;
  components: Record<string, Record<string, object>>;
}

const source = (await bothOf(memoryStore()).send("/api/openapi.json")).text;
const document = JSON.parse(source) as Document;

/** What the document says of an operation; `restore` is a `create` with messages. */
function describedOf(operation: OperationName): Described {
  const { path = "", method = "" } = contract[operation]["~orpc"].route;
  const found = document.paths[path]?.[method.toLowerCase()];
  if (!found) throw new Error(`${operation} is not in the document`);
  return found;
}

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema({ $id: "doc", ...document });

const errorBody = { $ref: "#/components/schemas/ErrorBody" };

/** Says what is wrong with a value, by a schema of the document; without one there must be none. */
function faultOf(schema: object | undefined, value: unknown): string {
  if (!schema) return value === undefined ? "" : "there should be nothing";
  const check = ajv.compile(rebased(schema));
  return check(value) ? "" : ajv.errorsText(check.errors);
}

/** The schema, with what it refers to found in the document. */
function rebased(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"doc#/')) as object;
}

test("a linter finds no error", async () => {
  const config = await createConfig({
    extends: ["recommended"],
    rules: { "no-empty-servers": "error", "no-server-example.com": "off", "security-defined": "error" },
  });
  const problems = await lintFromString({ source, absoluteRef: "openapi.json", config });
  expect(problems.map(({ severity, ruleId, message }) => `${severity} ${ruleId}: ${message}`)).toEqual([]);
});

test("is OpenAPI 3.1, and every reference leads somewhere", () => {
  expect(document.openapi).toMatch(/^3\.1\./);
  const refs = new Set([...source.matchAll(/"(#\/[^"]+)"/g)].map(([, ref = ""]) => ref));
  expect(refs.size).toBeGreaterThan(50);
  for (const ref of refs) {
    const found = ref.split("/").slice(1).reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], document);
    expect(found, `at ${ref}`).toBeTypeOf("object");
  }
});

test("names every operation as the contract does", () => {
  const ids = Object.values(document.paths).flatMap((path) => Object.values(path).flatMap(({ operationId }) => operationId ?? []));
  expect(new Set(ids)).toEqual(new Set(["agents", "importSessions", ...operations.filter((operation) => operation !== "restore")]));
  expect(ids.length).toBe(new Set(ids).size);
});

test("lists every code under its status, for every operation", () => {
  for (const operation of operations) {
    for (const [code, { status }] of Object.entries(errorTable)) {
      const { $ref = "" } = describedOf(operation).responses[status] ?? {};
      const response = document.components["responses"]?.[$ref.split("/").at(-1) ?? ""] as { description: string };
      expect(response.description, `${operation} ${code}`).toContain(`\`${code}\``);
    }
  }
});

interface Schema {
  oneOf?: { $ref: string }[];
  discriminator?: { propertyName: string; mapping: Record<string, string> };
  properties?: Record<string, { const?: string; enum?: string[] }>;
}

function schemaOf(name: string): Schema {
  return document.components["schemas"]?.[name] ?? {};
}

test.each(["HistoryItem", "SessionEvent", "MessageData", "MessageContent", "AssistantContent", "RunResult", "TailFrame"])("%s is told apart by a field", (name) => {
  const { oneOf = [], discriminator = { propertyName: "", mapping: {} } } = schemaOf(name);
  expect(new Set(Object.values(discriminator.mapping))).toEqual(new Set(oneOf.map(({ $ref }) => $ref)));
  for (const [value, $ref] of Object.entries(discriminator.mapping)) {
    const field = schemaOf($ref.split("/").at(-1) ?? "").properties?.[discriminator.propertyName];
    expect(field?.enum ?? [field?.const]).toContain(value);
  }
});

test("what an import answers is what the document says", async () => {
  const { send } = bothOf(memoryStore());
  const described = document.paths["/import"]?.["post"];
  const text = readFileSync(join(import.meta.dirname, "../corpus/019-torn-last-line/input.jsonl"), "utf8");
  const schema = described?.responses[201]?.content?.["application/json"].schema;
  const post = (body: string, query = "") => send(`/api/import?agent=supportAgent${query}`, { method: "POST", headers: { "content-type": "application/x-ndjson" }, body });
  for (const answer of [await post(text), await post(text, "&newIds=true")]) {
    expect(answer).toMatchObject({ status: 201, json: { findings: [{ code: "torn_tail_dropped" }] } });
    expect(faultOf(schema, answer.json)).toBe("");
  }
  for (const answer of [await post(text), await post("{")]) {
    expect(Object.keys(described?.responses ?? {})).toContain(String(answer.status));
    expect(faultOf(errorBody, answer.json)).toBe("");
  }
});

test("an import takes every type of body that the document lists", async () => {
  const { send } = bothOf(memoryStore());
  const types = Object.keys(document.paths["/import"]?.["post"]?.requestBody?.content ?? {});
  expect(types).toEqual(["application/x-ndjson", "application/jsonl", "application/json"]);
  for (const type of types) {
    const body = JSON.stringify([{ role: "user", content: type }]);
    const { status } = await send("/api/import?agent=supportAgent", { method: "POST", headers: { "content-type": type }, body });
    expect([type, status]).toEqual([type, 201]);
  }
});

test.each([
  ["/agents", "/agents"],
  ["/agents/{agent}/sessions/{sessionId}", "/agents/supportAgent/sessions/ses_1"],
  ["/agents/{agent}/sessions/{sessionId}/history", "/agents/supportAgent/sessions/ses_1/history"],
])("the document says that %s answers 304 to whoever has the answer", async (path, filled) => {
  const { rpc, send } = bothOf(memoryStore());
  await seed(rpc);
  const { headers } = await send(`/api${filled}`);
  const again = await send(`/api${filled}`, { headers: { "if-none-match": headers.get("etag") ?? "" } });
  expect(again.status).toBe(304);
  expect(Object.keys(document.paths[path]?.["get"]?.responses ?? {})).toContain("304");
});

describe("every real answer, and every request that is taken, is what the document says", () => {
  test.each(operations.flatMap((operation) => cases[operation].map((one) => [operation, one.name, one] as const)))("%s: %s", async (operation, _name, { input, headers, code }) => {
    const store = memoryStore();
    const { rpc, send } = bothOf(store, { surroundings: surroundings(), implementations });
    await seed(rpc);
    await seedChild(store);
    const [path, init] = requestOf(operation, input, headers);
    const { status, json } = await send(path, init);
    const described = describedOf(operation);
    const response = described.responses[status];
    const body = described.requestBody?.content["application/json"].schema;
    const sent = code === undefined && typeof init.body === "string" ? (JSON.parse(init.body) as unknown) : undefined;
    expect(Object.keys(described.responses)).toContain(String(status));
    expect(faultOf(code === undefined ? response?.content?.["application/json"].schema : errorBody, json)).toBe("");
    expect(faultOf(sent === undefined ? undefined : body, sent)).toBe("");
  });
});
