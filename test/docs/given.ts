import { createOrcha } from "@orcha/client";
import { createApp, memoryStore } from "@orcha/server";
import { agents } from "../agents.ts";

// What the pages take for granted: a server, its client, and a session that has some history.
const app = createApp({ agents, store: memoryStore() });

export const orcha = createOrcha<typeof agents>({
  baseUrl: "http://orcha.test",
  fetch: async (input, init) => app.fetch(new Request(input, init)),
});

const { session } = await orcha.supportAgent.restore([
  { role: "user", content: "Where is my order?" },
  { role: "assistant", content: "Let me look." },
  { role: "user", content: "Thank you." },
]);

export const { sessionId } = session;
