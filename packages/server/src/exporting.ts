import { OrchaError, type Agents, type SessionEvent } from "@orcha/contract";
import { writeBundle, writeSessionLog, type BundleSource } from "@orcha/formats";
import { agentNotFound, agentOf, sessionNotFound, type Call } from "./call.ts";
import { allIds, storeSource, type ExportSource, type SessionName } from "./export-source.ts";
import type { SessionInput } from "./reading.ts";
import type { Store } from "./store/store.ts";
import { surroundings as realSurroundings, type Surroundings } from "./surroundings.ts";

/** Which sessions to export: some of an agent, or all of them. */
export interface ExportSelection {
  agent: string;
  sessionIds?: readonly string[];
}

/** What an export needs of a server. */
export interface ExportParts {
  agents: Agents;
  store: Store;
  surroundings?: Partial<Surroundings>;
}

/**
 * Writes sessions as a bundle, a line at a time, and with each one the sessions that it delegated to. Each is exported as
 * it stands when its turn comes. Needs the scope `log`. Throws `session_not_found`, and `storage_error` for a log that is
 * damaged: a bundle holds whole sessions only.
 */
export async function* exportSessions(parts: ExportParts, call: Call, selection: ExportSelection): AsyncGenerator<string> {
  checkCall(parts, call, selection.agent);
  const { now } = { ...realSurroundings, ...parts.surroundings };
  yield* bundleFrom(storeSource(parts, call), selection, new Date(now()).toISOString());
}

/** Writes one session's log, an event a line. Throws as `exportSessions` does. */
export async function* exportSessionLog(parts: ExportParts, call: Call, input: SessionInput): AsyncGenerator<string> {
  checkCall(parts, call, input.agent);
  yield* logFrom(storeSource(parts, call), input);
}

function checkCall({ agents }: ExportParts, { principal }: Call, agent: string): void {
  if (!principal.scopes.includes("log")) {
    throw new OrchaError("forbidden", 'an export needs the scope "log"', { details: { scope: "log" } });
  }
  agentOf(agents, agent);
}

/** Writes a bundle of what a source has. Tells of each delegated session that it can't read, so that it isn't in the bundle. */
export async function* bundleFrom(
  source: ExportSource,
  selection: ExportSelection,
  createdAt: string,
  onHidden: (name: SessionName) => void = () => {},
): AsyncGenerator<string> {
  const { agent, sessionIds = [] } = selection;
  // Before the first line, so that a misspelt id leaves no file behind.
  for (const sessionId of sessionIds) {
    await sequenceIn(source, { agent, sessionId });
  }
  yield* writeBundle(sessionsOf(source, selection, onHidden), createdAt);
}

/** Writes the log of a session that a source has. */
export async function* logFrom(source: ExportSource, name: SessionName): AsyncGenerator<string> {
  const sequence = await sequenceIn(source, name);
  yield* writeSessionLog(bodiesOf(source, name, sequence, () => {}));
}

/** How many events a session has that somebody named. Throws where it can't be read. */
async function sequenceIn(source: ExportSource, name: SessionName): Promise<number> {
  const sequence = await source.sequenceOf(name);
  if (sequence === "none") throw sessionNotFound(name.sessionId);
  if (sequence === "hidden") throw agentNotFound(name.agent);
  return sequence;
}

async function* sessionsOf(source: ExportSource, { agent, sessionIds }: ExportSelection, onHidden: (name: SessionName) => void): AsyncGenerator<BundleSource> {
  const seen = new Set<string>();
  for (const sessionId of sessionIds ?? (await allIds(source, agent))) {
    const family: SessionName[] = [{ agent, sessionId }];
    for (let name = family.shift(); name !== undefined; name = family.shift()) {
      const key = JSON.stringify([name.agent, name.sessionId]);
      if (seen.has(key)) continue;
      seen.add(key);
      const events = await source.sequenceOf(name);
      // What goes away meanwhile is no reason to stop.
      if (events === "none") continue;
      if (events === "hidden") {
        onHidden(name);
        continue;
      }
      yield { agent: name.agent, sessionId: name.sessionId, events, bodies: bodiesOf(source, name, events, (child) => family.push(child)) };
    }
  }
}

async function* bodiesOf(source: ExportSource, name: SessionName, last: number, delegated: (child: SessionName) => void): AsyncGenerator<string> {
  for (let from = 1; from <= last; from += source.chunk) {
    const bodies = await source.bodies(name, from, Math.min(last, from + source.chunk - 1));
    if (!bodies) throw sessionNotFound(name.sessionId);
    for (const body of bodies) {
      if (body.includes('"subagent.initiated"')) notice(body, delegated);
      yield body;
    }
  }
}

function notice(body: string, delegated: (child: SessionName) => void): void {
  const event: SessionEvent = JSON.parse(body);
  if (event.type === "subagent.initiated") delegated({ agent: event.data.agent, sessionId: event.data.sessionId });
}
