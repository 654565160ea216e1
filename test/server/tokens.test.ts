import { createHash } from "node:crypto";
import { bearerTokens, memoryStore, type BearerToken } from "@orcha/server";
import { describe, expect, test } from "vitest";
import { appOf } from "../harness.ts";

const web = "web-token-0123456789";
const worker = "worker-token-0123456789";
const sha256 = (token: string): string => createHash("sha256").update(token).digest("hex");

const configured: BearerToken[] = [
  { token: web, tenant: "acme", subject: "web", scopes: ["read"] },
  { sha256: sha256(worker).toUpperCase(), tenant: "rival", scopes: ["read", "write"] },
];
const principals = { web: { tenant: "acme", subject: "web", scopes: ["read"] }, worker: { tenant: "rival", scopes: ["read", "write"] } };

function requestOf(...authorization: string[]): Request {
  return new Request("http://orcha.test", { headers: authorization.map((value): [string, string] => ["authorization", value]) });
}

describe("a bearer token", () => {
  const auth = bearerTokens(configured);

  test.each([
    [`Bearer ${web}`, principals.web],
    [`bearer ${web}`, principals.web],
    [`BEARER   ${web}  `, principals.web],
    [`Bearer ${worker}`, principals.worker],
  ])("%j is known", async (authorization, principal) => {
    expect(await auth(requestOf(authorization))).toEqual(principal);
  });

  test.each([
    "",
    "Bearer",
    "Bearer ",
    web,
    `Basic ${web}`,
    `Bearer${web}`,
    `Bearer\t${web}`,
    `Bearer ${web} ${web}`,
    `Bearer ${web},`,
    `Bearer ${web.slice(0, -1)}`,
    `Bearer ${web}x`,
    `Bearer ${web.toUpperCase()}`,
    `Bearer "${web}"`,
    `Bearer ${sha256(web)}`,
    `Bearer ${sha256(worker)}`,
    `Bearer ${"é".repeat(20)}`,
    `Bearer ${"x".repeat(100_000)}`,
  ])("%j is nobody's", async (authorization) => {
    expect(await auth(requestOf(authorization))).toBeUndefined();
  });

  test("is sent once", async () => {
    expect(await auth(requestOf())).toBeUndefined();
    expect(await auth(requestOf(`Bearer ${web}`, `Bearer ${web}`))).toBeUndefined();
    expect(await auth(requestOf(`Bearer ${web}`, `Bearer ${worker}`))).toBeUndefined();
  });

  test("is known by all of its bytes", async () => {
    const digest = createHash("sha256").update(web).digest();
    for (const index of digest.keys()) {
      const near = Buffer.from(digest);
      near.writeUInt8(near.readUInt8(index) ^ 1, index);
      const others = bearerTokens([{ sha256: near.toString("hex"), tenant: "acme", scopes: ["read"] }]);
      expect(await others(requestOf(`Bearer ${web}`))).toBeUndefined();
    }
  });

  test("lets its caller do what its scopes say, and a 401 says which scheme is asked for", async () => {
    const { rpc, request } = appOf(memoryStore(), { auth });
    const list = { agent: "supportAgent" };
    expect((await rpc("list", list, { authorization: `Bearer ${web}` })).status).toBe(200);
    expect((await rpc("create", list, { authorization: `Bearer ${web}` })).status).toBe(403);
    expect((await rpc("create", list, { authorization: `Bearer ${worker}` })).status).toBe(200);
    const refused = await request(new Request("http://orcha.test/rpc/list"));
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });
});

describe("a configuration that can't be right", () => {
  const good = { token: web, tenant: "acme", scopes: ["read"] };

  test.each<[string, unknown, string]>([
    ["no list", {}, "needs a list of at least one token"],
    ["an empty list", [], "needs a list of at least one token"],
    ["no object", [null], "[0] is not an object"],
    ["neither token nor sha256", [{ tenant: "acme", scopes: ["read"] }], "[0] needs a token or its sha256"],
    ["both token and sha256", [{ ...good, sha256: sha256(web) }], "[0] has both token and sha256"],
    ["a short token", [good, { ...good, token: "secret-15-chars" }], "[1].token must be at least 16 visible ASCII characters, without spaces"],
    ["a token with a line end", [{ ...good, token: `${web}\n` }], "[0].token must be at least 16 visible ASCII characters, without spaces"],
    ["a token that is no text", [{ ...good, token: 1e30 }], "[0].token must be at least 16 visible ASCII characters, without spaces"],
    ["a short sha256", [{ ...good, token: undefined, sha256: sha256(web).slice(1) }], "[0].sha256 must be 64 hexadecimal digits"],
    ["a sha256 in base64", [{ ...good, token: undefined, sha256: "q".repeat(64) }], "[0].sha256 must be 64 hexadecimal digits"],
    ["no scopes", [{ token: web, tenant: "acme" }], "[0].scopes is not a list"],
    ["scopes in a text", [{ ...good, scopes: "read" }], "[0].scopes is not a list"],
    ["empty scopes", [{ ...good, scopes: [] }], "[0].scopes is empty"],
    ["an unknown scope", [{ ...good, scopes: ["read", "everything"] }], "[0].scopes[1] is none of read, log, run, resolve, write, admin"],
    ["no tenant", [{ token: web, scopes: ["read"] }], "[0].tenant is not a string"],
    ["a blank tenant", [{ ...good, tenant: " " }], "[0].tenant is blank"],
    ["a long tenant", [{ ...good, tenant: "x".repeat(201) }], "[0].tenant has more than 200 characters"],
    ["a control character", [{ ...good, tenant: "a\0b" }], "[0].tenant has a control character"],
    ["half a surrogate pair", [{ ...good, tenant: "a\ud800" }], "[0].tenant has half a surrogate pair"],
    ["a blank subject", [{ ...good, subject: "" }], "[0].subject is blank"],
    ["a token twice", [good, { ...good, tenant: "rival" }], "[1].token is the same token as one before it"],
    [
      "a sha256 twice",
      [{ ...good, token: undefined, sha256: sha256(web) }, { ...good, token: undefined, sha256: sha256(web).toUpperCase() }],
      "[1].sha256 is the same token as one before it",
    ],
  ])("%s throws at once, without the token", (_what, tokens, fault) => {
    let thrown: unknown;
    try {
      bearerTokens(tokens as BearerToken[]);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(TypeError);
    expect(String(thrown)).toContain(fault);
    expect(String(thrown)).not.toMatch(new RegExp(`${web}|secret-15|${sha256(web)}`, "i"));
  });

  test("a token beside its own SHA-256 lets nobody in, and the operator is told", async () => {
    const told: unknown[] = [];
    const auth = bearerTokens([...configured, { sha256: sha256(web), tenant: "rival", scopes: ["admin"] }]);
    const { rpc } = appOf(memoryStore(), { auth, onError: (error) => told.push(error) });
    const { status } = await rpc("list", { agent: "supportAgent" }, { authorization: `Bearer ${web}` });
    expect(status).toBe(500);
    expect(String(told[0])).toContain("[2] is the same token as one before it");
  });

  test("what happens to the list later changes nobody's rights", async () => {
    const scopes: BearerToken["scopes"][number][] = ["read"];
    const tokens = [{ token: web, tenant: "acme", scopes }];
    const auth = bearerTokens(tokens);
    scopes.push("admin");
    tokens.pop();
    expect(await auth(requestOf(`Bearer ${web}`))).toEqual({ tenant: "acme", scopes: ["read"] });
  });
});
