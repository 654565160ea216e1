import { Agent } from "@orcha/agent";

const agent = new Agent({ instructions: "You are helpful" });
await agent.chat("My name is Alice");

const saved = agent.getHistory(); // persist to disk / your store

const restored = new Agent({ instructions: "You are helpful" });
restored.setHistory(saved);
console.log(await restored.chat("What is my name?")); // "Your name is Alice"
