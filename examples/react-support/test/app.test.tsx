import { page } from "./page.ts";
import { setupOrcha } from "@orcha/testing/node";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { agents } from "../src/agents.ts";

/** The server of these tests: nothing else of Orcha's is needed. */
const mock = setupOrcha(agents, {
  supportAgent: {
    sessions: [
      {
        sessionId: "ses_refund",
        name: "Order A-1042",
        history: [
          { user: "Where is order A-1042?" },
          { text: "Let me look.", action: "lookup_order", arguments: { orderId: "A-1042" }, output: { status: "lost", total: 750, currency: "USD" } },
          { clientAction: "request_human_approval", arguments: { orderId: "A-1042", amount: 750, currency: "USD" } },
        ],
      },
      { sessionId: "ses_thanks", name: "A question", history: [{ user: "Thank you" }, { text: "You are welcome." }] },
    ],
    script: ({ text }) => (text.includes("story") ? { text: "Once upon a time", hangs: true } : { text: "As you wish.", chunkSize: 4, delayMs: 5 }),
  },
});

beforeAll(() => mock.listen());
afterEach(() => mock.reset());
afterAll(() => mock.close());

let leave: () => void;

beforeEach(async () => {
  window.location.hash = "";
  // Imported once there is a page, whose address it takes for the server's.
  const { App } = await import("../src/app.tsx");
  const queryClient = new QueryClient();
  const container = document.body.appendChild(document.createElement("div"));
  const root = createRoot(container);
  root.render(
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>,
  );
  leave = () => {
    root.unmount();
    container.remove();
    queryClient.clear();
  };
});

afterEach(() => leave());

test("the inbox tells who has to act", async () => {
  await page.says("Order A-1042");
  expect(page.text()).toContain("Needs approval");
  expect(page.text()).toContain("A question");
});

test("an approval goes on with the run, and its card goes", async () => {
  await page.says("Order A-1042");
  page.press("Order A-1042");
  await page.says("$750.00");
  page.press("Approve");
  await page.says("As you wish.");
  expect(page.text()).not.toContain("Approve a refund?");
  const { data } = await mock.orcha.supportAgent.get.safe("ses_refund");
  expect(data).toMatchObject({ runStatus: "completed", pendingClientActions: [] });
});

test("an answer that fails says so, and may be given again", async () => {
  await page.says("Order A-1042");
  page.press("Order A-1042");
  await page.says("$750.00");
  mock.failNext("resume", "forbidden");
  page.press("Deny");
  await page.says("That didn’t work");
  page.press("Deny");
  await page.says("As you wish.");
  expect(page.text()).not.toContain("That didn’t work");
});

test("a conversation that somebody else goes on with is followed through a cut", async () => {
  await page.says("A question");
  page.press("A question");
  await page.says("You are welcome.");
  mock.cut();
  await mock.orcha.supportAgent.resume("ses_thanks", "One more thing").result;
  await page.says("One more thing");
  await page.says("As you wish.");
  expect(page.text()).not.toContain("Reconnecting");
});

test("an approval says what the model said, also where that is no currency", async () => {
  const call = { callId: "call_words", name: "request_human_approval", arguments: { orderId: "A-7", amount: 1250, currency: "US dollars" } };
  await mock.orcha.supportAgent.create({ sessionId: "ses_words", name: "In words" });
  await mock.orcha.supportAgent.append("ses_words", { events: [{ type: "client_action.requested", data: { calls: [call] } }] });
  window.location.hash = "ses_words";
  await expect.poll(() => page.text()).toContain("1,250 US dollars for order A-7");
});

/** Opens a session in which an agent that runs elsewhere asks for something. */
async function asked(name: string, given: unknown): Promise<void> {
  const call = { callId: "call_odd", name, arguments: given };
  await mock.orcha.supportAgent.create({ sessionId: "ses_odd", name: "Odd" });
  await mock.orcha.supportAgent.append("ses_odd", { events: [{ type: "client_action.requested", data: { calls: [call] } }] });
  window.location.hash = "ses_odd";
}

test.each([
  ["no amount", "request_human_approval", { orderId: "A-7", currency: "USD" }],
  ["an amount in words", "request_human_approval", { orderId: "A-7", amount: "much", currency: "USD" }],
  ["an order that is no text", "request_human_approval", { orderId: { number: 7 }, amount: 1, currency: "USD" }],
  ["no arguments", "request_human_approval", null],
  ["an action of a newer server", "pick_a_date", {}],
])("what is asked for with %s can be denied, never approved, and the page stays", async (_name, name, given) => {
  await asked(name, given);
  await page.says("This page can’t show what is asked for");
  expect(page.text()).toContain("Order A-1042");
  expect([...document.querySelectorAll("button")].map(({ textContent }) => textContent)).not.toContain("Approve");
  page.press("Deny");
  await expect.poll(async () => (await mock.orcha.supportAgent.get("ses_odd")).pendingClientActions).toEqual([]);
  await expect.poll(() => page.text()).not.toContain("This page can’t show");
});

test("a part of the page that can't be shown leaves the rest, and may be tried again", async () => {
  const { Boundary } = await import("../src/boundary.tsx");
  let isBroken = true;
  const Broken = (): string => {
    if (isBroken) throw new Error("odd");
    return "Mended.";
  };
  const container = document.body.appendChild(document.createElement("div"));
  const root = createRoot(container, { onCaughtError: () => {} });
  onTestFinished(() => {
    root.unmount();
    container.remove();
  });
  root.render(
    <>
      Beside it.
      <Boundary>
        <Broken />
      </Boundary>
    </>,
  );
  await page.says("Beside it.This conversation can’t be shown.");
  isBroken = false;
  page.press("Try again");
  await expect.poll(() => page.text()).toContain("Mended.");
});

test("a first message that can't be sent says why, and can be sent again", async () => {
  await page.says("How can we help?");
  mock.failNext("run", "forbidden");
  await page.send("Do you ship abroad?");
  await page.says("Not sent: the test wants this to fail");
  page.press("Try again");
  await page.says("As you wish.");
  expect(page.text()).toContain("Do you ship abroad?");
  expect(page.text()).not.toContain("Not sent");
});

test("an address that is no address of a conversation says so, and offers nowhere to write", async () => {
  window.location.hash = "100%";
  await expect.poll(() => document.querySelector("[role=alert]")?.textContent).toContain("sessionId");
  expect(document.querySelector("textarea")).toBe(null);
  page.press("New");
  await page.says("How can we help?");
});

test("an answer that can't be stopped says why, and can be stopped again", async () => {
  await page.says("A question");
  page.press("A question");
  await page.says("You are welcome.");
  await page.send("Tell me a story");
  await page.says("Once upon a time");
  mock.failNext("stop", "forbidden");
  page.press("Stop");
  await page.says("It couldn’t be stopped");
  page.press("Stop");
  await expect.poll(() => page.text()).not.toContain("It couldn’t be stopped");
  await expect.poll(async () => (await mock.orcha.supportAgent.get("ses_thanks")).runStatus).toBe("stopped");
});

test("the inbox tells what became of a conversation that has no answer", async () => {
  await mock.orcha.supportAgent.create({ sessionId: "ses_new", name: "Nobody asked" });
  await page.says("A question");
  page.press("A question");
  await page.says("You are welcome.");
  // The inbox is read again where a conversation that is shown changes.
  await mock.orcha.supportAgent.pause("ses_thanks");
  await expect.poll(() => document.querySelector('a[href="#ses_thanks"]')?.textContent).toContain("Paused");
  await expect.poll(() => document.querySelector('a[href="#ses_new"]')?.textContent).toContain("Open");
});

test("a new conversation shows what was said at once, and then the answer", async () => {
  await page.says("How can we help?");
  await page.send("Do you ship abroad?");
  await page.says("As you wish.");
  const { items } = await mock.orcha.supportAgent.list();
  expect(items).toHaveLength(3);
});
