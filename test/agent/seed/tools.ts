import { Agent } from "@orcha/agent";

const getWeather = (city: string) => `Weather in ${city}: 22°C, Sunny`;

const agent = new Agent({ instructions: "You are helpful", tools: [getWeather] });
await agent.chat("What's the weather in Paris?"); // calls getWeather

const restored = new Agent({ instructions: "You are helpful", tools: [getWeather] });
restored.setHistory(agent.getHistory());
console.log(await restored.chat("Is that warm?")); // no re-run; answers from the saved result
