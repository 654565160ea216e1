import { errorTable } from "@orcha/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { describeStores } from "../stores.ts";
import { seed } from "./cases.ts";
import { bothOf, type RestAnswer } from "./rest.ts";

const odd = fc.oneof(
  fc.constantFrom("..", ".", "%2e%2e", "%2F", "%00", "%ff", "%", "", " ", "ses_1", "-x", "__proto__", "constructor", "a%2Fb", "x".repeat(200), "*", ":id", "{agent}"),
  fc.string({ maxLength: 8 }).map(encodeSafely),
);
const agent = fc.oneof({ weight: 3, arbitrary: fc.constantFrom("supportAgent", "researcher") }, odd);
const session = fc.oneof({ weight: 3, arbitrary: fc.constantFrom("ses_1", "nowhere") }, odd);
const tail = fc.constantFrom("", "/history", "/events", "/messages", "/append", "/resume", "/fork", "/nothing", "/history/", "//");
const path = fc.oneof(
  fc.tuple(agent, session, tail).map(([a, s, t]) => `/agents/${a}/sessions/${s}${t}`),
  fc.tuple(agent, odd).map(([a, rest]) => `/agents/${a}/sessions${rest.startsWith("?") ? rest : ""}`),
  odd.map((rest) => `/${rest}`),
);
const value = fc.oneof(fc.constantFrom("1", "0", "-1", "1.5", "", "abc", "1e9", "99999999999999999999", "{}", "[", "null", "%ff", "%00"), odd);
const query = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom("page", "pageSize", "throughSequence", "cursor", "status", "runStatus", "metadata", "agent"), odd), value), { maxLength: 3 })
  .map((pairs) => pairs.map((pair) => pair.join("=")).join("&"));
const body = fc.oneof(
  fc.constantFrom("", "{", "[]", "null", "7", '{"name":7}', '{"messages":7}', '{"events":[{}]}', '{"toolResults":{}}', '{"__proto__":{}}', '{"metadata":[]}'),
  fc.json(),
);
const header = fc.constantFrom<Record<string, string>>({}, { "if-match": "x" }, { "if-match": '"1"' }, { "idempotency-key": "a b" }, { "content-type": "text/plain" });

describeStores("bad requests", (make) => {
  test("of any kind are answered by a code of the table, and one that is refused changes nothing", { timeout: 60_000 }, async () => {
    const { rpc, send } = bothOf(await make());
    await seed(rpc);
    const seen = async (): Promise<string> => {
      const list = await rpc("list", { agent: "supportAgent", pageSize: 100 });
      return list.text + (await rpc("list", { agent: "researcher" })).text;
    };
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("GET", "POST", "PATCH", "PUT", "HEAD", "OPTIONS"), path, query, body, header, async (method, path, query, body, header) => {
        const before = await seen();
        const bodiless = method === "GET" || method === "HEAD";
        const init = { method, headers: { "content-type": "application/json", ...header }, ...(bodiless ? {} : { body }) };
        const answer = await send(`/api${path}${query === "" ? "" : `?${query}`}`, init);
        if (answer.status < 300) return;
        expect(answer.status).toBeLessThan(500);
        expect(await seen()).toBe(before);
        // A path upwards leaves REST, and is refused in the words of what lies there.
        const isRest = new URL(`/api${path}`, "http://orcha.test").pathname.startsWith("/api/");
        expect(method === "HEAD" ? answer.text : isRest ? faultOf(answer) : "").toBe("");
      }),
      { numRuns: 1200 },
    );
  });
});

/** Says how a refusal differs from its row of the table. */
function faultOf({ status, json }: RestAnswer): string {
  const { code, message, retryable } = json as { code: keyof typeof errorTable; message: string; retryable: boolean };
  const row = errorTable[code];
  return row.status === status && row.retryable === retryable && message.length > 0 ? "" : JSON.stringify(json);
}

function encodeSafely(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
