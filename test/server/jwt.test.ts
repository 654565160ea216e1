import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { memoryStore, type Authenticate } from "@orcha/server";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type CryptoKey } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { samplesOf } from "../docs/samples.ts";
import { appOf } from "../harness.ts";

const folder = join(import.meta.dirname, ".samples");
const ours = await generateKeyPair("RS256");
const theirs = await generateKeyPair("RS256");

const server = createServer((request, response) => {
  if (request.url !== "/.well-known/jwks.json") return void response.writeHead(404).end();
  void exportJWK(ours.publicKey).then((jwk) => response.end(JSON.stringify({ keys: [{ ...jwk, kid: "1", alg: "RS256" }] })));
});

/** The very code that docs/access.md shows, with the issuer in this process. */
async function documented(issuer: string): Promise<Authenticate> {
  const sample = samplesOf("docs/access.md").find(({ file }) => file === "auth.ts");
  const file = join(folder, `auth-${new URL(issuer).port}.ts`);
  writeFileSync(file, (sample?.code ?? "").replace("https://login.example.com/", issuer));
  const { auth }: { auth: Authenticate } = await import(file);
  return auth;
}

let issuer = "";
let auth: Authenticate;

beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  issuer = `http://127.0.0.1:${address.port}/`;
  auth = await documented(issuer);
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  server.close();
});

interface Token {
  key?: CryptoKey;
  kid?: string;
  audience?: string;
  from?: string;
  expires?: string;
  claims?: Record<string, unknown>;
}

function sign({ key = ours.privateKey, kid = "1", audience = "orcha", from = issuer, expires = "1h", claims = {} }: Token = {}) {
  return new SignJWT({ sub: "ada", tenant: "acme", scope: "openid read write", ...claims })
    .setProtectedHeader({ alg: "RS256", kid })
    .setIssuer(from)
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime(expires)
    .sign(key);
}

async function call(operation: string, authorization: string | undefined, known = auth) {
  const told: unknown[] = [];
  const { rpc } = appOf(memoryStore(), { auth: known, onError: (error) => told.push(error) });
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  return { ...(await rpc(operation, { agent: "supportAgent" }, headers)), told };
}

test("a valid token is its subject, in its tenant, with the scopes that are Orcha's", async () => {
  const authorization = `Bearer ${await sign()}`;
  expect(await auth(new Request(issuer, { headers: { authorization } }))).toEqual({
    tenant: "acme",
    subject: "ada",
    scopes: ["read", "write"],
  });
  expect((await call("create", authorization)).status).toBe(200);
  const scopeless = await sign({ claims: { scope: undefined } });
  expect((await call("list", `Bearer ${scopeless}`)).status).toBe(403);
});

test.each<[string, () => Promise<string | undefined>]>([
  ["no token", async () => undefined],
  ["another scheme", async () => `Basic ${await sign()}`],
  ["two tokens", async () => `Bearer ${await sign()}, Bearer ${await sign()}`],
  ["garbage", async () => "Bearer garbage"],
  ["three parts of garbage", async () => "Bearer a.b.c"],
  ["an expired token", async () => `Bearer ${await sign({ expires: "-1h" })}`],
  ["another audience", async () => `Bearer ${await sign({ audience: "elsewhere" })}`],
  ["another issuer", async () => `Bearer ${await sign({ from: "https://elsewhere.example/" })}`],
  ["another key under our key's id", async () => `Bearer ${await sign({ key: theirs.privateKey })}`],
  ["an unknown key", async () => `Bearer ${await sign({ key: theirs.privateKey, kid: "2" })}`],
  ["a token without a tenant", async () => `Bearer ${await sign({ claims: { tenant: undefined } })}`],
  ["a changed payload", async () => `Bearer ${(await sign()).replace(/\.[^.]+\./, `.${btoa('{"tenant":"rival"}').replace(/=+$/, "")}.`)}`],
  ["no signature", async () => `Bearer ${new UnsecuredJWT({ sub: "ada", tenant: "acme" }).setIssuer(issuer).setAudience("orcha").encode()}`],
  [
    "a secret in place of a key",
    async () => {
      const secret = new TextEncoder().encode(JSON.stringify(await exportJWK(ours.publicKey)));
      return `Bearer ${await new SignJWT({ sub: "ada", tenant: "acme" }).setProtectedHeader({ alg: "HS256", kid: "1" }).sign(secret)}`;
    },
  ],
])("%s is nobody's", async (_what, authorization) => {
  const { status, json, told } = await call("list", await authorization());
  expect({ status, code: json["code"], told }).toEqual({ status: 401, code: "unauthorized", told: [] });
});

test("keys out of reach are the server's fault, and let nobody in", async () => {
  const unreachable = await documented("http://127.0.0.1:1/");
  const { status, json, told } = await call("list", `Bearer ${await sign()}`, unreachable);
  expect({ status, code: json["code"] }).toEqual({ status: 500, code: "execution_failed" });
  expect(told).toHaveLength(1);
});

test("a tenant that is no text is the server's fault, and lets nobody in", async () => {
  const { status, told } = await call("list", `Bearer ${await sign({ claims: { tenant: 7 } })}`);
  expect(status).toBe(500);
  expect(String(told[0])).toContain("tenant is not a string");
});
