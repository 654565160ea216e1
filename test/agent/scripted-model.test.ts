import { Agent } from "@orcha/agent";
import { scriptedModel } from "@orcha/agent/testing";
import { expect, test } from "vitest";

test.each([0, -1, NaN])("chunks of %d characters are none, and said to be so", async (chunkSize) => {
  const agent = new Agent({ model: scriptedModel([{ text: "Hello", chunkSize }]) });
  await expect(agent.chat("Hi")).rejects.toMatchObject({ code: "provider_error", message: `chunkSize must be 1 or more, not ${chunkSize}` });
});

test("a reply that is delayed for ever comes only to an end by its signal", async () => {
  const controller = new AbortController();
  const model = scriptedModel([{ text: "Hello", delayMs: Infinity }]);
  const said = new Agent({ model }).chat("Hi", { signal: controller.signal });
  await expect.poll(() => model.requests.length).toBe(1);
  // What a timer takes for nothing is over by then.
  await new Promise((resolve) => setTimeout(resolve, 5));
  controller.abort();
  await expect(said).rejects.toMatchObject({ code: "aborted" });
});
