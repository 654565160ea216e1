import { join } from "node:path";
import type { Turn } from "../workload.ts";
import { load } from "./load.ts";
import { batchesOf, messagesPerPage, turnsOf, type PeerSide } from "./peer-side.ts";

const resourceId = "bench";

interface Memory {
  saveThread(input: { thread: object }): Promise<unknown>;
  saveMessages(input: { messages: object[] }): Promise<unknown>;
  recall(input: object): Promise<{ messages: unknown[] }>;
}

interface Store {
  init(): Promise<void>;
}

/** Mastra's memory on its LibSQL store, without vectors and without working memory. */
export async function openMastra(folder: string, directory: string): Promise<PeerSide> {
  const { LibSQLStore } = await load<{ LibSQLStore: new (options: object) => Store }>(folder, "@mastra/libsql");
  const { Memory } = await load<{ Memory: new (options: object) => Memory }>(folder, "@mastra/memory");
  const storage = new LibSQLStore({ id: "bench", url: `file:${join(directory, "mastra.db")}` });
  await storage.init();
  const options = { lastMessages: messagesPerPage, semanticRecall: false, workingMemory: { enabled: false } };
  const memory = new Memory({ storage, options });

  async function page(threadId: string, direction: "ASC" | "DESC"): Promise<unknown[]> {
    const order = { field: "createdAt", direction };
    return (await memory.recall({ threadId, resourceId, perPage: messagesPerPage, page: 0, orderBy: order })).messages;
  }

  return {
    async seed(session, items) {
      const now = new Date();
      await memory.saveThread({ thread: { id: session, resourceId, title: session, metadata: {}, createdAt: now, updatedAt: now } });
      for (const turns of batchesOf(session, items, 200)) {
        await memory.saveMessages({ messages: turns.flatMap((turn) => messagesOf(session, turn)) });
      }
      return turnsOf(items);
    },
    newest: (session) => page(session, "DESC"),
    oldest: (session) => page(session, "ASC"),
    append: (session, turn) => memory.saveMessages({ messages: messagesOf(session, turn) }),
  };
}

function messagesOf(threadId: string, { number, at, question, tool, answer, model, usage }: Turn): object[] {
  const call = tool && {
    type: "tool-invocation",
    toolInvocation: { state: "result", toolCallId: tool.callId, toolName: tool.name, args: tool.arguments, result: tool.result },
  };
  const parts = [...(call ? [call] : []), { type: "text", text: answer }];
  return [
    {
      id: `${threadId}-${number}-q`,
      threadId,
      resourceId,
      role: "user",
      createdAt: new Date(at),
      content: { format: 2, parts: [{ type: "text", text: question }] },
    },
    {
      id: `${threadId}-${number}-a`,
      threadId,
      resourceId,
      role: "assistant",
      createdAt: new Date(at + 3000),
      content: { format: 2, parts, metadata: { usage, model } },
    },
  ];
}
