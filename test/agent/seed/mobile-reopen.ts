import { Agent } from "@orcha/agent/mobile";
import { show, store } from "./mobile-app.ts";

const restored = new Agent({ instructions: "You are helpful" });
restored.setHistory(JSON.parse(await store.get("chat")));
show(await restored.chat("What is my name?")); // "Your name is Alice"
