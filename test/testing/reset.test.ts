import { mockOrcha } from "@orcha/testing";
import { expect, onTestFinished, test } from "vitest";
import { agents } from "../agents.ts";

test("fixtures read again after a reset don't get into each other's way", async () => {
  const sessions = ["one", "two", "three"].map((text) => ({ history: [{ user: text }, { text: `${text} it is` }] }));
  const mock = mockOrcha(agents, { supportAgent: { sessions } });
  onTestFinished(() => mock.close());
  const ids = async () => (await mock.orcha.supportAgent.list()).items.map(({ sessionId }) => sessionId);
  const first = await ids();
  expect(first).toHaveLength(3);
  for (let time = 0; time < 3; time += 1) {
    await mock.reset();
    expect(await ids()).toEqual(first);
  }
});
