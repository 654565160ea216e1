import { Agent } from "@orcha/agent";
import fs from "node:fs";

const restored = new Agent({ instructions: "You are helpful" });
restored.setHistory(JSON.parse(fs.readFileSync("chat.json", "utf8")));
console.log(await restored.chat("What is my name?")); // "Your name is Alice"
