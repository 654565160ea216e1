import type { HistoryItem } from "@orcha/client";
import { memoryStore, type Store } from "@orcha/server";
import { onTestFinished } from "vitest";
import { bedOf, type Bed, type BedOptions } from "../runs/bed.ts";

export interface ReactBed extends Bed {
  store: Store;
  /** How often the client asked for something. */
  numSent: (operation: string) => number;
  /** How many tails are open. */
  numTails: () => number;
  /** Answers in place of the server, where it gives an answer. */
  intercept: (answer: (operation: string, request: Request) => Promise<Response | undefined> | Response | undefined) => void;
}

/** A server in this process, and a client that counts what it asks and reconnects at once. */
export function serverOf(options: BedOptions = {}, store: Store = memoryStore()): ReactBed {
  const sent: string[] = [];
  const tails = new Set<ReadableStream>();
  let answerOf: Parameters<ReactBed["intercept"]>[0] = () => undefined;
  const bed = bedOf(store, {
    ...options,
    client: {
      retry: { attempts: 3, minDelayMs: 1, maxDelayMs: 20 },
      fetch: async (input, init) => {
        const request = new Request(input, init);
        const operation = new URL(request.url).pathname.replace("/rpc/", "");
        sent.push(operation);
        const response = (await answerOf(operation, request)) ?? (await bed.service.app.fetch(request));
        if (operation !== "tail" || !response.ok || !response.body) return response;
        const { body } = response;
        tails.add(body);
        return new Response(watched(body, () => tails.delete(body)), response);
      },
      ...options.client,
    },
  });
  onTestFinished(() => store.close());
  return {
    ...bed,
    store,
    numTails: () => tails.size,
    numSent: (operation) => sent.filter((one) => one === operation).length,
    intercept: (answer) => {
      answerOf = answer;
    },
  };
}

/** The same stream; tells when it ends, or its reader leaves. */
function watched(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(sink) {
      const { done, value } = await reader.read();
      if (!done) return sink.enqueue(value);
      onEnd();
      sink.close();
    },
    async cancel(reason) {
      onEnd();
      await reader.cancel(reason);
    },
  });
}

/** As long as a network takes: without, a request and its answer are one for whoever renders. */
export const latency = (): Promise<undefined> => new Promise((resolve) => setTimeout(resolve, 20, undefined));

/** What a message says, in short; other items by their type and how they stand. */
export function wordsOf(item: HistoryItem | { type: string }): string {
  if ("content" in item && Array.isArray(item.content)) {
    return item.content.map((block: { text?: string; type: string }) => block.text ?? block.type).join(" ");
  }
  return "status" in item ? `${item.type} ${String(item.status)}` : item.type;
}

/** A session that opens with so many numbered messages. */
export async function openedWith({ orcha }: Pick<Bed, "orcha">, count: number): Promise<string> {
  const messages = Array.from({ length: count }, (_, index) => ({ role: "user" as const, content: String(index) }));
  const { session } = await orcha.supportAgent.restore(messages);
  return session.sessionId;
}

/** Lets something else say something. */
export async function say({ orcha }: Pick<Bed, "orcha">, sessionId: string, ...contents: string[]): Promise<void> {
  await orcha.supportAgent.append(sessionId, { messages: contents.map((content) => ({ role: "user" as const, content })) });
}

/** Lets something else ask for an approval. */
export async function ask({ orcha }: Pick<Bed, "orcha">, sessionId: string, callId: string): Promise<void> {
  const calls = [{ callId, name: "request_human_approval", arguments: { amount: 750, currency: "USD" } }];
  await orcha.supportAgent.append(sessionId, { events: [{ type: "client_action.requested", data: { calls } }] });
}
