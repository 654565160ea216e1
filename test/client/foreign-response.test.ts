import { createOrcha } from "@orcha/client";
import { afterEach, expect, test, vi } from "vitest";
import { bedOf, variables } from "../runs/bed.ts";
import { memoryStore } from "@orcha/server";

afterEach(() => vi.unstubAllGlobals());

test("streams are read where a tool has put a class of its own in the place of the global Response", async () => {
  const { orcha } = bedOf(memoryStore(), { support: [{ text: "One, two, three", chunkSize: 4, delayMs: 5 }] });
  vi.stubGlobal("Response", class extends Response {});
  const run = orcha.supportAgent.run({ content: "Count", variables });
  expect(await run.result).toMatchObject({ status: "completed", output: "One, two, three" });
  const types: string[] = [];
  for await (const frame of orcha.supportAgent.tail(run.sessionId, { after: 0 })) {
    types.push(frame.type);
    if (frame.type === "ready") break;
  }
  expect(types.at(-1)).toBe("ready");
});

test("and where an app's fetch gives responses of another class", async () => {
  const { service } = bedOf(memoryStore(), { support: [{ text: "One" }] });
  const foreign = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const { body, ok, status, headers } = await service.app.fetch(new Request(input, init));
    return { body, ok, status, headers } as Response;
  };
  const orcha = createOrcha<{ supportAgent: { metadata: object; actions: object; clientActions: object; skills: never; evaluations: never; subagents: never; output: string } }>({
    baseUrl: "http://orcha.test",
    fetch: foreign,
    retry: false,
  });
  expect(await orcha.supportAgent.run({ content: "Count", variables }).result).toMatchObject({ status: "completed", output: "One" });
});
