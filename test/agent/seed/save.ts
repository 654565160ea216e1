import { Agent } from "@orcha/agent";
import fs from "node:fs";

const agent = new Agent({ instructions: "You are helpful" });
await agent.chat("My name is Alice");
fs.writeFileSync("chat.json", JSON.stringify(agent.getHistory()));
