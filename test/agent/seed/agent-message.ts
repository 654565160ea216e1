import { Agent, type AgentMessage } from "@orcha/agent";

const agent = new Agent({ instructions: "You are helpful" });
await agent.chat("Hello");

const saved: AgentMessage[] = agent.getHistory();
console.log(JSON.stringify(saved));
