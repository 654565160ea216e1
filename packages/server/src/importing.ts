import { canonicalJson, defineAgent, defineAgents, HistoryError, invalidInput, OrchaError, sessionIdSchema, type Agents, type Finding } from "@orcha/contract";
import {
  detectFormat,
  FormatError,
  FormatFindings,
  readBundle,
  readMessages,
  readSessionLog,
  type BundlePart,
  type FileFormat,
  type FormatFinding,
  type Source,
} from "@orcha/formats";
import * as v from "valibot";
import { agentOf, refOf, type Call } from "./call.ts";
import { historyInvalid } from "./changes.ts";
import { Counted, peek } from "./import-source.ts";
import { ImportTarget, nameKey } from "./import-target.ts";
import { createSessions } from "./sessions.ts";
import { Staging } from "./staging.ts";
import type { SessionRef, Store } from "./store/store.ts";
import { surroundings as realSurroundings, type Surroundings } from "./surroundings.ts";

/** How a file is imported. */
export interface ImportOptions {
  /** What the file is; found out from its first bytes by default. */
  format?: FileFormat;
  /** The agent that the sessions go to; by default the one that the file names. A list of messages names none. */
  agent?: string;
  /** The id of the one session that the file holds; by default the file's own. */
  sessionId?: string;
  /** Gives a session a new id where its own is taken; by default the import is refused then. */
  newIds?: boolean;
  /** Ends the import, with nothing left behind. */
  signal?: AbortSignal;
  /** Told after each piece. */
  onProgress?: (progress: { sessions: number; events: number }) => void;
}

/** A session that an import made. */
export interface ImportedSession {
  agent: string;
  sessionId: string;
  events: number;
  /** Its id in the file, where that was taken. */
  formerId?: string;
}

/** What an import made, and everything that is not as the file had it. */
export interface ImportReport {
  format: FileFormat;
  sessions: ImportedSession[];
  events: number;
  /** The first ones of each code. */
  findings: readonly (FormatFinding | Finding)[];
  /** How often each code was found. */
  totals: Readonly<Record<string, number>>;
}

/** What an import needs of a server. */
export interface ImportParts {
  /** Sessions of other agents are refused; without it any agent's are taken. */
  agents?: Agents;
  store: Store;
  surroundings?: Partial<Surroundings>;
}

/**
 * Imports a file whole or not at all, in memory that doesn't grow with it: nobody sees anything before all of it is
 * read and known to be whole. Needs the scope `admin`. Throws `session_exists` for a session that was imported before,
 * `invalid_input` with the line for a damaged file, `unsupported_format` for one that this version doesn't read.
 */
export async function importSessions(parts: ImportParts, call: Call, source: Source, options: ImportOptions = {}): Promise<ImportReport> {
  if (!call.principal.scopes.includes("admin")) {
    throw new OrchaError("forbidden", 'an import needs the scope "admin"', { details: { scope: "admin" } });
  }
  try {
    const { first, all } = await peek(source);
    const format = options.format ?? detectFormat(first);
    const job: Job = { parts, call, options, surroundings: { ...realSurroundings, ...parts.surroundings } };
    if (format === undefined) {
      throw new OrchaError("unsupported_format", "this is no session log, no bundle and no list of messages");
    }
    return format === "messages" ? await importMessages(job, all) : await importEvents(job, all, format);
  } catch (error) {
    throw inWords(error);
  }
}

interface Job {
  parts: ImportParts;
  call: Call;
  options: ImportOptions;
  surroundings: Surroundings;
}

async function importEvents(job: Job, source: Source, format: "session-log" | "bundle"): Promise<ImportReport> {
  const { parts, options, surroundings } = job;
  const findings = new FormatFindings();
  let staging: Staging | undefined;
  // A file may come so slowly that a whole lease passes between two writes.
  const counted = new Counted(source, async () => staging?.renew());
  const read = format === "bundle" ? readBundle(counted, findings) : logParts(counted, findings);
  const sessions: ImportedSession[] = [];
  const newNames = new Map<string, string>();
  let events = 0;
  try {
    let target: ImportTarget | undefined;
    for await (const part of read) {
      if (part.type === "event") {
        if (!target) throw new TypeError("an event came before its session");
        events += 1;
        if (target.add(part.event, counted.bytes)) await write(target);
        continue;
      }
      if (target) await write(target);
      target = undefined;
      if (part.type === "end") continue;
      const { ref, session } = await nameOf(job, part, sessions);
      sessions.push(session);
      if (session.formerId !== undefined) newNames.set(nameKey(session.agent, session.formerId), session.sessionId);
      staging ??= await Staging.open(parts.store, surroundings);
      target = new ImportTarget(parts.store, staging.add(ref), ref, session, newNames);
    }
    options.signal?.throwIfAborted();
    await staging?.publish();
  } catch (error) {
    // What can't be removed now is removed by the next import; the first failure is the one to tell.
    await staging?.discard().catch(() => {});
    throw error;
  }
  return { format, sessions, events, findings: findings.list(), totals: Object.fromEntries(findings.totals()) };

  async function write(target: ImportTarget): Promise<void> {
    options.signal?.throwIfAborted();
    await target.flush();
    await staging?.renew();
    options.onProgress?.({ sessions: sessions.length, events });
  }
}

/** Finds the name that a session gets. Throws `session_exists` before anything is read in vain. */
async function nameOf(
  { parts, call, options, surroundings }: Job,
  { line, session }: Extract<BundlePart, { type: "session" }>,
  earlier: readonly ImportedSession[],
): Promise<{ ref: SessionRef; session: ImportedSession }> {
  const agent = options.agent ?? session.agent;
  checkAgent(parts, agent);
  if (options.sessionId !== undefined && earlier.length > 0) {
    throw new FormatError(line, "the file holds several sessions; an id can be given to one only");
  }
  const sessionId = options.sessionId ?? session.sessionId;
  const fault = idFault(sessionId);
  if (fault !== undefined) throw new FormatError(line, `the session's id ${fault}`);
  const ref = refOf(call, { agent, sessionId });
  const isTwice = earlier.some((other) => other.agent === agent && other.sessionId === sessionId);
  if (!isTwice && !(await isTaken(parts.store, ref, surroundings.now()))) return { ref, session: { agent, sessionId, events: 0 } };
  if (isTwice || options.newIds !== true) throw alreadyThere(sessionId);
  const fresh = refOf(call, { agent, sessionId: surroundings.sessionId() });
  return { ref: fresh, session: { agent, sessionId: fresh.sessionId, events: 0, formerId: sessionId } };
}

function idFault(sessionId: string): string | undefined {
  return v.safeParse(sessionIdSchema, sessionId, { abortEarly: true }).issues?.[0].message;
}

/** A store alone knows no definitions, so without them any name will do that can be an agent's. */
function checkAgent({ agents }: ImportParts, agent: string): Agents {
  if (agents) {
    agentOf(agents, agent);
    return agents;
  }
  try {
    return defineAgents({ [agent]: defineAgent({}) });
  } catch {
    throw invalidInput(["agent"], `can't be ${JSON.stringify(agent.slice(0, 80))}`);
  }
}

function alreadyThere(sessionId: string): OrchaError {
  const message = `session ${JSON.stringify(sessionId)} exists, or did: nothing was imported`;
  return new OrchaError("session_exists", message, { details: { path: "sessionId" } });
}

/** No session is at sequence 0, so this removes nothing: it tells a name that was never used from all others. */
async function isTaken(store: Store, ref: SessionRef, now: number): Promise<boolean> {
  try {
    return await store.delete(ref, now, { expectedSequence: 0 });
  } catch (error) {
    if (error instanceof OrchaError && error.code === "sequence_conflict") return true;
    throw error;
  }
}

/** A log, told as a bundle of one session would be. */
async function* logParts(source: Source, findings: FormatFindings): AsyncGenerator<BundlePart> {
  for await (const event of readSessionLog(source, findings)) {
    if (event.type === "session.created") {
      const { agent, sessionId } = event.data;
      yield { type: "session", line: 1, session: { agent, sessionId, events: 1 } };
    }
    yield { type: "event", line: 0, event };
  }
  yield { type: "end", line: 0, sessions: 1, events: 0 };
}

/** Messages have no id of their own: theirs is made of what they say, so that the same ones are known again. */
async function importMessages({ parts, call, options, surroundings }: Job, source: Source): Promise<ImportReport> {
  const { agent } = options;
  if (agent === undefined) throw invalidInput(["agent"], "is needed: a list of messages names none");
  const { messages, findings } = await readMessages(source);
  const digest = await surroundings.digest(canonicalJson(messages));
  let sessionId = options.sessionId ?? `msg_${digest.slice(0, 32)}`;
  const fault = idFault(sessionId);
  if (fault !== undefined) throw invalidInput(["sessionId"], fault);
  const agents = checkAgent(parts, agent);
  if (await isTaken(parts.store, refOf(call, { agent, sessionId }), surroundings.now())) {
    if (options.newIds !== true) throw alreadyThere(sessionId);
    sessionId = surroundings.sessionId();
  }
  options.signal?.throwIfAborted();
  const { writing } = createSessions(agents, parts.store, surroundings);
  const { session } = await writing.restore(call, { agent, sessionId, messages });
  const totals: Record<string, number> = {};
  for (const { code } of findings) totals[code] = (totals[code] ?? 0) + 1;
  const { sequence: events } = session;
  return { format: "messages", sessions: [{ agent, sessionId, events }], events, findings, totals };
}

function inWords(error: unknown): unknown {
  if (error instanceof HistoryError) return historyInvalid(error);
  if (!(error instanceof FormatError)) return error;
  const { code, message, line } = error;
  return new OrchaError(code === "damaged" ? "invalid_input" : "unsupported_format", message, { details: { line } });
}
