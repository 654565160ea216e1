import { join } from "node:path";
import type { Turn } from "../workload.ts";
import { load } from "./load.ts";
import { batchesOf, messagesPerPage, turnsOf, type PeerSide } from "./peer-side.ts";

const userId = "bench";

interface Memory {
  createConversation(input: object): Promise<unknown>;
  addMessages(messages: object[], userId: string, conversationId: string): Promise<unknown>;
  getMessages(userId: string, conversationId: string, options?: { limit: number }): Promise<unknown[]>;
}

/** VoltAgent's memory on its LibSQL adapter. It has no page from the start: the oldest ones are cut off the whole. */
export async function openVoltAgent(folder: string, directory: string): Promise<PeerSide> {
  const { LibSQLMemoryAdapter } = await load<{ LibSQLMemoryAdapter: new (options: object) => object }>(folder, "@voltagent/libsql");
  const { Memory } = await load<{ Memory: new (options: object) => Memory }>(folder, "@voltagent/core");
  const memory = new Memory({ storage: new LibSQLMemoryAdapter({ url: `file:${join(directory, "voltagent.db")}` }) });
  return {
    async seed(session, items) {
      await memory.createConversation({ id: session, userId, resourceId: "bench", title: session, metadata: {} });
      for (const turns of batchesOf(session, items, 200)) {
        await memory.addMessages(turns.flatMap((turn) => messagesOf(session, turn)), userId, session);
      }
      return turnsOf(items);
    },
    newest: (session) => memory.getMessages(userId, session, { limit: messagesPerPage }),
    oldest: async (session) => (await memory.getMessages(userId, session)).slice(0, messagesPerPage),
    append: (session, turn) => memory.addMessages(messagesOf(session, turn), userId, session),
  };
}

function messagesOf(session: string, { number, question, tool, answer, model, usage }: Turn): object[] {
  const call = tool && {
    type: `tool-${tool.name}`,
    state: "output-available",
    toolCallId: tool.callId,
    input: tool.arguments,
    output: tool.result,
  };
  const parts = [...(call ? [call] : []), { type: "text", text: answer }];
  return [
    { id: `${session}-${number}-q`, role: "user", parts: [{ type: "text", text: question }] },
    { id: `${session}-${number}-a`, role: "assistant", parts, metadata: { usage, model } },
  ];
}
