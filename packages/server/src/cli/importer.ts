import { once } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { ImportOptions, ImportReport } from "../importing.ts";
import { CommandFailure } from "./failure.ts";
import { authorization, readAnswer, unreachable, type Answered, type Server } from "./remote.ts";
import { openLocal, serverOf, type TargetFlags } from "./target.ts";

/** Something that takes a file in: a store that this process opened, or a server. */
export interface Importer {
  take(source: AsyncIterable<Uint8Array>, options: ImportOptions): Promise<ImportReport>;
  close(): Promise<void>;
}

/** Opens what the flags or the configuration name; a store that isn't there is made. */
export async function openImporter(flags: TargetFlags): Promise<Importer> {
  if (flags.url !== undefined) return serverImporter(serverOf(flags, flags.url));
  const { config, store, call } = await openLocal(flags, { mustExist: false });
  return {
    async take(source, options) {
      const { importSessions } = await import("../importing.ts");
      const { nodeSurroundings } = await import("../node.ts");
      const parts = { ...(config ? { agents: config.agents } : {}), store, surroundings: nodeSurroundings };
      return importSessions(parts, call, source, options);
    },
    close: () => store.close(),
  };
}

function serverImporter(server: Server): Importer {
  return {
    async take(source, { signal, agent, sessionId, newIds, format }) {
      const query = new URLSearchParams();
      for (const [key, value] of Object.entries({ agent, sessionId, newIds, format })) if (value !== undefined) query.set(key, String(value));
      const url = `${server.base}/api/import?${query.toString()}`;
      // Whichever file it is: the server finds out, as a store would.
      const headers = { "content-type": "application/x-ndjson", ...authorization(server) };
      const reading = new Reading(source);
      const answered = await upload(url, { headers, signal }, reading).catch((error: unknown) => {
        throw reading.failure ?? (reading.hasBegun ? brokenOff(reading) : unreachable(url, error));
      });
      return readAnswer(answered, server) as ImportReport;
    },
    close: async () => {},
  };
}

/** Sends a body piece by piece. Not by `fetch`, which holds on to all that it has sent. */
async function upload(url: string, { headers, signal }: { headers: OutgoingHttpHeaders; signal: AbortSignal | undefined }, body: Reading): Promise<Answered> {
  const { request } = url.startsWith("https:") ? await import("node:https") : await import("node:http");
  const sending = request(url, { method: "POST", headers, ...(signal ? { signal } : {}) });
  // What goes wrong is told by the promises below; this hears of what goes wrong after them.
  sending.on("error", () => {});
  try {
    const answered = once(sending, "response") as Promise<[IncomingMessage]>;
    const sent = pipeline(body, sending);
    // A server that refuses a file doesn't wait for the end of it.
    const [response] = await Promise.race([answered, sent.then(() => answered)]);
    return { status: response.statusCode ?? 500, text: await text(response) };
  } finally {
    sending.destroy();
  }
}

function brokenOff({ hasEnded }: Reading): CommandFailure {
  // A server imports nothing before it has read the end.
  const outcome = hasEnded ? "whether all of it was imported is not known: see orcha list" : "nothing was imported";
  return new CommandFailure(`the connection broke, and ${outcome}`);
}

/** How far a source was read, and what went wrong with it: the connection fails then too. */
class Reading implements AsyncIterable<Uint8Array> {
  hasBegun = false;
  hasEnded = false;
  failure: unknown;
  private readonly source: AsyncIterable<Uint8Array>;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.source = source;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of this.source) {
        yield piece;
        this.hasBegun = true;
      }
      this.hasEnded = true;
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}
