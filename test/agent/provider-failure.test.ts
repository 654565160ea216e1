import { APICallError } from "@ai-sdk/provider";
import { scriptedModel, type ScriptEntry } from "@orcha/agent/testing";
import { describe, expect, test } from "vitest";
import { batches, drive, expectStorable, inputOf } from "./driving.ts";

const soon = { "retry-after-ms": "1" };
const busy: ScriptEntry = { error: { message: "The model is overloaded", retryable: true, statusCode: 529, headers: soon } };

describe("before anything was shown", () => {
  test("a call that may be repeated is, and the log doesn't tell", async () => {
    const model = scriptedModel([busy, busy, { text: "Hi" }]);
    const { steps, end } = await drive(inputOf({ model }));
    expect(model.requests).toHaveLength(3);
    expect(batches(steps)).toEqual([["assistant", "run.completed"]]);
    expect(end.status).toBe("completed");
  });

  test.each([
    { settings: {}, calls: 3 },
    { settings: { maxRetries: 0 }, calls: 1 },
  ])("after $calls calls the run fails", async ({ settings, calls }) => {
    const model = scriptedModel(busy === undefined ? [] : [busy, busy, busy, busy]);
    const { steps, events, end } = await drive(inputOf({ model, settings }));
    expect(model.requests).toHaveLength(calls);
    expect(batches(steps)).toEqual([["run.failed"]]);
    const details = { statusCode: 529, provider: "scripted", model: "script" };
    expect(end).toEqual({ status: "failed", error: { code: "provider_error", message: "The model is overloaded", retryable: true, details } });
    expectStorable(events);
  });

  test("a call that may not be repeated isn't", async () => {
    const model = scriptedModel([{ error: { message: "no such model", statusCode: 404 } }, { text: "Hi" }]);
    expect((await drive(inputOf({ model }))).end).toMatchObject({ status: "failed", error: { message: "no such model", retryable: false } });
    expect(model.requests).toHaveLength(1);
  });

  test.each([
    Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }) }),
    new TypeError("terminated"),
    Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }),
  ])("a broken connection is tried again: $message", async (error) => {
    let calls = 0;
    const model = scriptedModel(() => {
      calls += 1;
      if (calls === 1) throw error;
      return { text: "Hi" };
    });
    expect((await drive(inputOf({ model }))).end.status).toBe("completed");
  });
});

test("after text was shown it is kept, and the round is made again without it", async () => {
  const model = scriptedModel([{ text: "Hello, Al", error: { message: "cut", retryable: true, headers: soon } }, { text: "Hello, Alice" }]);
  const { steps, end } = await drive(inputOf({ model }));
  expect(batches(steps)).toEqual([["assistant (incomplete)"], ["assistant", "run.completed"]]);
  expect(steps.flatMap((step) => (step.type === "text" ? [step.round] : []))).toEqual([0, 1]);
  expect(model.requests[1]?.prompt).toEqual(model.requests[0]?.prompt);
  expect(end).toMatchObject({ output: "Hello, Alice" });
});

test("a failure for good keeps what was shown", async () => {
  const model = scriptedModel([{ text: "Hello, Al", error: { message: "bad request" } }]);
  expect(batches((await drive(inputOf({ model }))).steps)).toEqual([["assistant (incomplete)", "run.failed"]]);
});

test.each(["error" as const, undefined])("a stream that ends without an answer is a failure: %s", async (finishReason) => {
  const model = scriptedModel([]);
  const stream = new ReadableStream({
    start(controller) {
      if (finishReason) controller.enqueue({ type: "finish", finishReason: { unified: finishReason }, usage: { inputTokens: {}, outputTokens: {} } });
      controller.close();
    },
  });
  const { end } = await drive(inputOf({ model: { ...model, doStream: async () => ({ stream }) }, settings: { maxRetries: 0 } }));
  expect(end).toMatchObject({ status: "failed", error: { code: "provider_error", retryable: true } });
});

test("an error part of the stream says what the provider said", async () => {
  const error = { message: "Rate limit reached", type: "rate_limit", isRetryable: true };
  const stream = () => new ReadableStream({ start: (controller) => controller.enqueue({ type: "error", error }) });
  const model = { ...scriptedModel([]), doStream: async () => ({ stream: stream() }) };
  const { end } = await drive(inputOf({ model, settings: { maxRetries: 0 } }));
  expect(end).toMatchObject({ error: { message: "Rate limit reached", retryable: true } });
});

describe("keys", () => {
  const key = "sk-proj-abcDEF123456abcDEF123456abcDEF123456";

  test.each([
    [`Incorrect API key provided: ${key}. You can find your key at https://platform.example.com/keys.`, /^Incorrect API key provided: \[redacted\]/],
    ["Incorrect API key provided: my-secret-1. Look at https://a.example/x?key=my-secret-1&b=2 please", /https:\/\/a\.example\/x please$/],
    ["invalid key abcd1234 given", /^invalid key \[redacted\] given$/],
    ["invalid x-api-key: abcd1234", /^invalid x-api-key: \[redacted\]$/],
    ["Bearer abc.def-ghi rejected", /^Bearer \[redacted\] rejected$/],
    ["API key not valid: AIzaSyA1234567890abcdefghijklmnopqrstuv", /^API key not valid: \[redacted\]$/],
    ["token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", /^token=\[redacted\]$/],
    ["https://user:pass1234@proxy.example/v1 refused", /^https:\/\/proxy\.example\/v1 refused$/],
    ["header my own secret value echoed", /^header \[redacted\] echoed$/],
  ])("%s", async (message, shown) => {
    const model = scriptedModel([{ error: { message } }]);
    const settings = { headers: { authorization: "my own secret value" } };
    const { end, events } = await drive(inputOf({ model, settings }));
    expect(end).toMatchObject({ error: { message: expect.stringMatching(shown) as unknown } });
    for (const secret of [key, "my-secret-1", "abcd1234", "abc.def", "AIzaSy", "eyJ", "pass1234", "my own secret"]) {
      expect(JSON.stringify(events)).not.toContain(secret);
    }
  });

  test.each([
    "token limit: 8192 is exceeded",
    "the file /var/patterns-2025-08-07 of request req_011CSHoEeqs5C35K2UUGdKzV is missing",
    "maximum context length is 8192 tokens: your messages resulted in 9000 tokens",
    "model gpt-5-mini-2025-08-07 does not exist",
  ])(
    "what is no key stays: %s",
    async (message) => {
      const { end } = await drive(inputOf({ model: scriptedModel([{ error: { message } }]) }));
      expect(end).toMatchObject({ error: { message } });
    },
  );

  test("neither headers, body nor query of a request are told", async () => {
    const doStream = () =>
      Promise.reject(
        new APICallError({
          message: "denied",
          url: "https://api.example.com/v1?key=hidden-one",
          requestBodyValues: { secret: "hidden-two" },
          responseHeaders: { "set-cookie": "hidden-three" },
          responseBody: "hidden-four",
          statusCode: 401,
        }),
      );
    const { end, events } = await drive(inputOf({ model: { ...scriptedModel([]), doStream } }));
    expect(JSON.stringify([end, events])).not.toContain("hidden");
    expect(end).toMatchObject({ error: { message: "denied", retryable: false, details: { statusCode: 401 } } });
  });
});
