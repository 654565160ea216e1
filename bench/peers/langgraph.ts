import { join } from "node:path";
import { pageSize } from "../side.ts";
import type { Turn } from "../workload.ts";
import { load } from "./load.ts";
import { batchesOf, turnsOf, type PeerSide } from "./peer-side.ts";

interface Checkpoint {
  channel_values: { messages: unknown[] };
  channel_versions: { messages: number };
}

interface Saved {
  config: { configurable: { checkpoint_id: string } };
  checkpoint: Checkpoint;
}

interface Saver {
  getTuple(config: object): Promise<Saved | undefined>;
  put(config: object, checkpoint: object, metadata: object, versions: object): Promise<unknown>;
}

type Message = new (fields: object) => object;

interface Messages {
  HumanMessage: Message;
  AIMessage: Message;
  ToolMessage: Message;
}

/**
 * LangGraph's checkpoints on SQLite. A checkpoint is the whole state, so a page is a slice of all messages, and a turn
 * is at least one load and one put; a graph puts two to four times.
 */
export async function openLangGraph(folder: string, directory: string): Promise<PeerSide> {
  const { SqliteSaver } = await load<{ SqliteSaver: { fromConnString(file: string): Saver } }>(
    folder,
    "@langchain/langgraph-checkpoint-sqlite",
  );
  const { uuid6 } = await load<{ uuid6: (step: number) => string }>(folder, "@langchain/langgraph-checkpoint");
  const kinds = await load<Messages>(folder, "@langchain/core/messages");
  const saver = SqliteSaver.fromConnString(join(directory, "langgraph.db"));
  let step = 0;

  async function loadLast(session: string): Promise<Saved | undefined> {
    return saver.getTuple({ configurable: { thread_id: session, checkpoint_ns: "" } });
  }

  async function messagesIn(session: string): Promise<unknown[]> {
    return (await loadLast(session))?.checkpoint.channel_values.messages ?? [];
  }

  async function extend(session: string, turns: readonly Turn[]): Promise<void> {
    const last = await loadLast(session);
    const version = (last?.checkpoint.channel_versions.messages ?? 0) + 1;
    const messages = [
      ...(last?.checkpoint.channel_values.messages ?? []),
      ...turns.flatMap((turn) => messagesOf(kinds, session, turn)),
    ];
    const parent = last && { checkpoint_id: last.config.configurable.checkpoint_id };
    const checkpoint = {
      v: 4,
      id: uuid6(step),
      ts: new Date().toISOString(),
      channel_values: { messages },
      channel_versions: { messages: version },
      versions_seen: {},
    };
    step += 1;
    const config = { configurable: { thread_id: session, checkpoint_ns: "", ...parent } };
    await saver.put(config, checkpoint, { source: "loop", step: version, parents: {} }, { messages: version });
  }

  return {
    async seed(session, items) {
      for (const turns of batchesOf(session, items, Infinity)) await extend(session, turns);
      return turnsOf(items);
    },
    newest: async (session) => (await messagesIn(session)).slice(-pageSize),
    oldest: async (session) => (await messagesIn(session)).slice(0, pageSize),
    append: (session, turn) => extend(session, [turn]),
  };
}

function messagesOf({ HumanMessage, AIMessage, ToolMessage }: Messages, session: string, turn: Turn): object[] {
  const { number, question, tool, answer, usage } = turn;
  const id = (part: string) => `${session}-${number}-${part}`;
  const tokens = {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
  const call = tool && [
    new AIMessage({
      id: id("c"),
      content: "",
      tool_calls: [{ id: tool.callId, name: tool.name, args: tool.arguments, type: "tool_call" }],
    }),
    new ToolMessage({ id: id("r"), tool_call_id: tool.callId, name: tool.name, content: JSON.stringify(tool.result) }),
  ];
  return [
    new HumanMessage({ id: id("q"), content: question }),
    ...(call ?? []),
    new AIMessage({ id: id("a"), content: answer, usage_metadata: tokens }),
  ];
}
