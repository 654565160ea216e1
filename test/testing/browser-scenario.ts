import { createOrcha } from "@orcha/client";
import { mockOrcha } from "@orcha/testing";
import { setupWorker } from "msw/browser";
import { agents } from "../runs/agents.ts";
import { play, scenario } from "./scenario.ts";

// Runs in a page. The address is another origin's, and nothing ever leaves for it.
const mock = mockOrcha(agents, scenario);
const worker = setupWorker(...mock.handlers);
await worker.start({ quiet: true });
const orcha = createOrcha<typeof agents>({ baseUrl: "https://agents.example.com", retry: { minDelayMs: 1, maxDelayMs: 10 } });

const report = play({ orcha, cut: () => void mock.cut() });
Object.assign(globalThis, { report });
document.title = "ready";
