import { Agent } from "@orcha/agent/mobile";
import { store } from "./mobile-app.ts";

const agent = new Agent({ instructions: "You are helpful" });
await agent.chat("My name is Alice");
await store.set("chat", JSON.stringify(agent.getHistory()));
