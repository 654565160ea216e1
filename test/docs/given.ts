import { createOrcha } from "@orcha/client";
import { setDefaultModel } from "@orcha/agent";
import { scriptedModel } from "@orcha/agent/testing";
import { createApp, memoryStore } from "@orcha/server";
import { agents } from "../agents.ts";

// Agents of the pages have a model that knows the weather and the user's name.
setDefaultModel(
  scriptedModel(({ prompt }) => {
    const last = prompt.at(-1);
    const text = last?.role === "user" && last.content[0]?.type === "text" ? last.content[0].text : "";
    if (last?.role === "tool") return { text: "It is 22°C and sunny." };
    if (text.includes("weather")) return { toolCalls: [{ name: "getWeather", arguments: { city: "Paris" } }] };
    return { text: text === "What is my name?" && JSON.stringify(prompt).includes("Alice") ? "Your name is Alice" : "Hello" };
  }),
);

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
