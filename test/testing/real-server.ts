import { createServer, connect, type AddressInfo, type Socket } from "node:net";
import { scriptedModel } from "@orcha/agent/testing";
import { memoryStore } from "@orcha/server";
import { serve } from "@orcha/server/node";
import { agents } from "../runs/agents.ts";

/** A server that listens and does what the scenario's script says, told in its own terms; and a way to it that can be cut. */
export async function startServer(): Promise<{ url: string; cut: () => void; stop: () => Promise<void> }> {
  const server = await serve({
    agents,
    store: memoryStore(),
    port: 0,
    implementations: {
      supportAgent: {
        model: scriptedModel([
          { text: "Let me look.", toolCalls: [{ callId: "call_look", name: "lookup_order", arguments: { orderId: "A-1" } }] },
          { toolCalls: [{ callId: "call_ask", name: "request_human_approval", arguments: { amount: 750, currency: "USD" } }] },
          { text: "You get your money back.", chunkSize: 6, delayMs: 15 },
          { toolCalls: [{ callId: "call_find", name: "run_agent", arguments: { agent: "researcher", input: "Find the parcel" } }] },
          { text: "It is in Berlin." },
          { error: { message: "overloaded", statusCode: 400 } },
        ]),
        instructions: "You help.",
        actions: { lookup_order: () => ({ status: "lost" }), refund: () => ({}) },
        skills: { incident_triage: "Stay calm." },
        evaluations: {
          response_quality: async ({ sessionId }) => ({
            groundedness: { score: sessionId === "ses_parent" ? 0.5 : 1, reasoning: "So the test says." },
          }),
        },
      },
      researcher: { model: scriptedModel([{ text: "Berlin." }]), instructions: "You research." },
      sorter: { model: scriptedModel([{ text: '{"label":"bug"}' }]), instructions: "You sort." },
    },
  });
  const sockets = new Set<Socket>();
  const way = createServer((near) => {
    const far = connect(server.port, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => way.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(way.address() as AddressInfo).port}`,
    cut,
    stop: async () => {
      cut();
      way.close();
      await server.close();
    },
  };
}
