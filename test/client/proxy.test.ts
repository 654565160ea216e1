import { inspect } from "node:util";
import { createOrcha, isOrchaError, OrchaError } from "@orcha/client";
import { reservedAgentKeys } from "@orcha/contract";
import * as fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { agents } from "./agents.ts";

const fetch = vi.fn<typeof globalThis.fetch>(() => Promise.reject(new Error("no request expected")));

function create() {
  return createOrcha<typeof agents>({ baseUrl: "http://orcha.invalid", fetch });
}

/** Reads a key that the types don't know. */
function read(orcha: object, key: string | symbol): unknown {
  return Reflect.get(orcha, key);
}

describe("agent clients", () => {
  it("are the same object each time", () => {
    const orcha = create();
    expect(orcha.supportAgent).toBe(orcha.supportAgent);
    expect(orcha.supportAgent).not.toBe(orcha.researcher);
    expect(create().supportAgent).not.toBe(orcha.supportAgent);
  });

  it("exist for every key that an agent may have, and for no other", () => {
    const orcha = create();
    const key = fc.oneof(fc.string(), fc.string({ minLength: 60, maxLength: 70, unit: fc.constantFrom("a", "Z", "_", "$", "7") }));
    fc.assert(
      fc.property(key, (name) => {
        const isKey = /^[A-Za-z_$][\w$]{0,63}$/.test(name) && !reservedAgentKeys.includes(name) && !(name in Object.prototype);
        expect(typeof (read(orcha, name) as { history?: unknown } | undefined)?.history === "function").toBe(isKey);
        expect(name in orcha).toBe(isKey || name in Object.prototype);
      }),
    );
  });

  it("keep their methods when taken off", async () => {
    const { history } = createOrcha<typeof agents>({ baseUrl: "http://orcha.invalid", fetch, retry: false }).supportAgent;
    await expect(history("ses_1")).rejects.toMatchObject({ code: "network" });
    fetch.mockClear();
  });

  it("can't be changed", () => {
    const agent: object = create().supportAgent;
    expect(() => Object.assign(agent, { history: 1 })).toThrow(TypeError);
  });
});

describe("the proxy never gets in the way", () => {
  it("is no promise, and neither is an agent's client", async () => {
    const orcha = create();
    expect(await Promise.resolve(orcha)).toBe(orcha);
    expect(await Promise.resolve(orcha.supportAgent)).toBe(orcha.supportAgent);
    expect("then" in orcha).toBe(false);
    expect("then" in orcha.supportAgent).toBe(false);
  });

  it.each(["then", "catch", "finally", "toJSON", "prototype", "inspect", "$$typeof"])("has no %s", (key) => {
    expect(read(create(), key)).toBe(undefined);
    expect(key in create()).toBe(false);
  });

  it("reserves what the contract reserves", () => {
    const orcha = create();
    const ordinary = Object.create(Object.getPrototypeOf(orcha) as object) as object;
    for (const key of reservedAgentKeys) expect(read(orcha, key)).toBe(read(ordinary, key));
  });

  it("is an ordinary object to consoles and serializers", () => {
    const orcha = create();
    expect(inspect(orcha)).toBe("Object [Orcha] {}");
    expect(inspect(orcha, { showProxy: true, depth: 9, showHidden: true, getters: true })).toContain("Orcha");
    expect(inspect(orcha.supportAgent)).toContain("history");
    expect(JSON.stringify(orcha)).toBe("{}");
    expect(JSON.stringify({ orcha })).toBe('{"orcha":{}}');
    expect(JSON.stringify(orcha.supportAgent)).toBe('{"agent":"supportAgent"}');
    expect({ ...orcha }).toEqual({});
    expect(Object.keys(orcha)).toEqual([]);
    expect(Object.entries(orcha)).toEqual([]);
    for (const key in orcha) throw new Error(key);
    const value: unknown = orcha;
    expect(String(value)).toBe("[object Orcha]");
    expect(`is ${value as string}`).toBe("is [object Orcha]");
    expect(Object.prototype.toString.call(orcha)).toBe("[object Orcha]");
    expect(orcha.valueOf()).toBe(orcha);
    expect(Object.hasOwn(orcha, "supportAgent")).toBe(false);
    expect(read(orcha, "hasOwnProperty")).toBe(read({}, "hasOwnProperty"));
    expect(orcha instanceof Object).toBe(true);
  });

  it("answers `in`", () => {
    const orcha = create();
    expect("supportAgent" in orcha).toBe(true);
    expect("not an agent" in orcha).toBe(false);
    expect(Symbol.iterator in orcha).toBe(false);
  });

  it("survives what React's and other tools read", () => {
    const orcha = create();
    const reads = ["$$typeof", "_owner", "_store", "nodeType", "tagName", "asymmetricMatch", "@@__IMMUTABLE_ITERABLE__@@", "size"];
    for (const key of reads) expect(typeof read(orcha, key)).not.toBe("function");
    for (const symbol of [Symbol.iterator, Symbol.asyncIterator, Symbol.toPrimitive, Symbol.for("nodejs.util.inspect.custom")]) {
      expect(read(orcha, symbol)).toBe(undefined);
    }
    expect(() => structuredClone(orcha.supportAgent)).toThrow("could not be cloned");
  });

  it("can be compared and frozen", () => {
    const orcha = create();
    expect(orcha).toEqual(orcha);
    expect(orcha).toEqual(create());
    expect(orcha).not.toEqual({ supportAgent: 1 });
    expect(() => expect(orcha).toEqual({ supportAgent: 1 })).toThrow("expected");
    expect(Object.freeze(orcha).supportAgent).toBe(orcha.supportAgent);
  });

  it("makes no request", () => {
    expect(fetch).not.toHaveBeenCalled();
  });

  it("is read-only", () => {
    const orcha = create();
    const { supportAgent } = orcha;
    expect(() => Object.assign(orcha, { supportAgent: 1 })).toThrow("Cannot define property supportAgent");
    expect(() => Object.defineProperty(orcha, "supportAgent", { value: 1 })).toThrow("Cannot define property supportAgent");
    expect(() => Object.setPrototypeOf(orcha, {})).toThrow(TypeError);
    Reflect.deleteProperty(orcha, "supportAgent");
    expect(orcha.supportAgent).toBe(supportAgent);
  });
});

describe("createOrcha", () => {
  it.each([
    [undefined, "baseUrl must be a whole URL"],
    ["", "baseUrl must be a whole URL"],
    ["localhost:3000", "baseUrl must begin with http:// or https://"],
    ["/api", "baseUrl must be a whole URL"],
    ["ftp://example.com", "baseUrl must begin with http"],
    ["http://example.com?x=1", "baseUrl must not have a query"],
    ["http://user:pass@example.com", "baseUrl must not hold a user name"],
  ])("refuses the baseUrl %j", (baseUrl, message) => {
    expect(() => createOrcha({ baseUrl: baseUrl as string })).toThrow(message);
  });

  it.each([
    [{ token: "a b" }, "token must"],
    [{ token: 1 }, "token must"],
    [{ headers: null }, "headers must"],
    [{ fetch: "fetch" }, "fetch must"],
    [{ timeoutMs: 0 }, "timeoutMs must"],
    [{ timeoutMs: Number.NaN }, "timeoutMs must"],
    [{ timeoutMs: 1e12 }, "timeoutMs must"],
    [{ retry: { attempts: 0 } }, "retry.attempts must"],
    [{ retry: { minDelayMs: -1 } }, "retry.minDelayMs must"],
    [{ retry: { minDelayMs: 10, maxDelayMs: 1 } }, "retry.maxDelayMs must"],
    [{ agents: 1 }, "agents must"],
  ])("refuses the options %j", (options, message) => {
    expect(() => createOrcha({ baseUrl: "http://localhost", ...options } as { baseUrl: string })).toThrow(message);
  });

  it("keeps the token out of its complaint", () => {
    expect(() => createOrcha({ baseUrl: "http://localhost", token: "sec\nret" })).toThrow(/^(?!.*sec)/);
  });

  it("needs options", () => {
    expect(() => Reflect.apply(createOrcha, undefined, [])).toThrow("createOrcha: options must be an object");
  });
});

describe("OrchaError", () => {
  it("is recognised across copies of the package", async () => {
    vi.resetModules();
    const copy = await import("@orcha/client");
    const error = new copy.OrchaError("session_busy", "busy", { retryable: true });
    expect(copy.OrchaError).not.toBe(OrchaError);
    expect(error instanceof OrchaError).toBe(false);
    expect(isOrchaError(error)).toBe(true);
  });

  it.each([undefined, null, "OrchaError", new Error("x"), { name: "OrchaError", code: "network" }])("is not %s", (value) => {
    expect(isOrchaError(value)).toBe(false);
  });

  it("has the name, the code and the cause of an error", () => {
    const cause = new Error("inner");
    const error = new OrchaError("network", "outer", { cause });
    expect(error).toMatchObject({ name: "OrchaError", code: "network", message: "outer", retryable: true, cause });
    expect(error).toBeInstanceOf(Error);
    expect(new OrchaError("aborted", "x").retryable).toBe(false);
  });
});
