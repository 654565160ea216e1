import { p50 } from "../sampling.ts";
import { pageSize } from "../side.ts";
import { turnOf } from "../workload.ts";
import { openLangGraph } from "./langgraph.ts";
import { openMastra } from "./mastra.ts";
import { openOurs } from "./ours.ts";
import { messagesPerPage, type PeerSide } from "./peer-side.ts";
import { openVoltAgent } from "./voltagent.ts";

/*
 * One peer in a process of its own: opens it, fills it, and times what it is asked for, one thing at a time.
 */

export type Operation = "newest" | "oldest" | "append";

const samples = 40;
const [name = "", folder = "", directory = "", itemsText = "", sessionsText = ""] = process.argv.slice(2);
const items = Number(itemsText);
const sessions: { id: string; next: number }[] = [];
let taken = 0;
process.on("disconnect", () => process.exit());
try {
  const side = await open();
  await fill(side);
  process.on("message", (operation) => {
    void measure(side, operation as Operation).then((milliseconds) => process.send?.(milliseconds));
  });
  process.send?.("ready");
} catch (error) {
  process.send?.(error instanceof Error ? error.message : String(error));
}

async function fill(side: PeerSide): Promise<void> {
  for (let index = 0; index < Number(sessionsText); index += 1) {
    const id = `session-${items}-${index}`;
    sessions.push({ id, next: await side.seed(id, items) });
  }
  for (const page of [await side.newest(first().id), await side.oldest(first().id)]) {
    // The fewest are those who keep a call inside its message.
    if (page.length < messagesPerPage || page.length > pageSize) throw new RangeError(`it answers a page of ${page.length}`);
  }
}

function open(): Promise<PeerSide> {
  switch (name) {
    case "floor":
    case "orcha":
      return openOurs(name, directory);
    case "mastra":
      return openMastra(folder, directory);
    case "langgraph":
      return openLangGraph(folder, directory);
    case "voltagent":
      return openVoltAgent(folder, directory);
  }
  throw new RangeError(`no peer ${name}`);
}

function measure(side: PeerSide, operation: Operation): Promise<number> {
  if (operation !== "append") return p50(samples, () => side[operation](first().id));
  return p50(samples, () => {
    const session = sessions[taken % sessions.length] ?? first();
    taken += 1;
    session.next += 1;
    return side.append(session.id, turnOf(session.id, session.next - 1));
  });
}

function first(): { id: string; next: number } {
  const [session] = sessions;
  if (!session) throw new RangeError("no session was filled");
  return session;
}
