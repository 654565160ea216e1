import { createOrcha, type Orcha, type OrchaOptions } from "@orcha/client";
import type { MockOptions, Scenario } from "@orcha/testing";
import { setupOrcha, type OrchaSetup } from "@orcha/testing/node";
import { onTestFinished } from "vitest";
import { agents } from "../runs/agents.ts";

export type Mock = OrchaSetup<typeof agents>;

/** A mock that intercepts what the test fetches, and an app's client of it, both gone when the test is over. */
export async function setting(scenario: Scenario<typeof agents> = {}, options: MockOptions = {}, client: Partial<OrchaOptions> = {}) {
  const mock = setupOrcha(agents, scenario, options);
  mock.listen();
  onTestFinished(() => mock.close());
  await mock.ready;
  const app: Orcha<typeof agents> = createOrcha<typeof agents>({
    baseUrl: "https://agents.example.com",
    retry: { minDelayMs: 1, maxDelayMs: 5 },
    ...client,
  } as OrchaOptions<typeof agents>);
  return { mock, app };
}
