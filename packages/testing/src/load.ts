import type { EventInput } from "@orcha/contract";
import { importSessions } from "@orcha/server";
import { readTime } from "./clock.ts";
import { faultIn } from "./faults.ts";
import type { AnyScenario } from "./implementations.ts";
import { startOf } from "./length.ts";
import { record } from "./recordings.ts";
import type { EventsFixture, MessagesFixture } from "./scenario.ts";
import type { Stage } from "./stage.ts";
import { tell } from "./tell.ts";

type AnyFixture = NonNullable<NonNullable<AnyScenario[string]>["sessions"]>[number];

/** Puts every session of a scenario into the store. Throws a `TypeError` that names the first one that can't be. */
export async function load(stage: Stage, scenario: AnyScenario): Promise<void> {
  const start = stage.clock.now();
  for (const [agent, { sessions = [] } = {}] of Object.entries(scenario)) {
    for (const [index, fixture] of sessions.entries()) {
      try {
        await again(stage, agent, index, () => loadSession(stage, agent, fixture, start - (index + 1) * 1000));
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : String(cause);
        throw new TypeError(`${agent}.sessions[${index}] can't be: ${reason}`, { cause });
      }
    }
  }
}

/** Reads a fixture's recording where there is one, else lets it be told and records it. */
async function again(stage: Stage, agent: string, index: number, told: () => Promise<string | undefined>): Promise<void> {
  const name = `${agent} ${index}`;
  const recording = stage.recordings.get(name);
  if (recording) {
    await importFile(stage, agent, recording.bundle);
    stage.ids.sessions = recording.ids;
    return;
  }
  const sessionId = await told();
  const recorded = sessionId === undefined ? undefined : await record(stage, agent, sessionId);
  if (recorded) stage.recordings.set(name, recorded);
}

/** Answers the id of the session that was made, or nothing where a file was read. */
async function loadSession(stage: Stage, agent: string, fixture: AnyFixture, end: number): Promise<string | undefined> {
  if (fixture.bundle !== undefined) {
    await importFile(stage, agent, fixture.bundle);
    return undefined;
  }
  const { clock } = stage;
  const opened = { ...fixture, sessionId: fixture.sessionId ?? stage.surroundings.sessionId?.() ?? "" };
  clock.set(fixture.createdAt === undefined ? startOf(fixture, end, stage.agents[agent]?.definition) : readTime(fixture.createdAt, "createdAt"));
  if (opened.messages !== undefined) await restore(stage, agent, opened);
  else if (opened.events !== undefined) await append(stage, agent, opened);
  else {
    await tell(stage, agent, opened);
    await checkResults(stage, agent, opened.sessionId);
  }
  if (fixture.ended !== undefined) clock.set(clock.now() + 1000);
  const client = stage.clientOf(agent);
  if (fixture.ended === "paused") await client.pause(opened.sessionId);
  else if (fixture.ended !== undefined) await client.complete(opened.sessionId, { status: fixture.ended });
  return opened.sessionId;
}

async function importFile({ agents, store, surroundings, tenant }: Stage, agent: string, file: string | Uint8Array): Promise<void> {
  const call = { principal: { tenant, scopes: ["admin"] as const } };
  // An import has a place of its own while it lasts, whose name must not be one of the ids that tests count on.
  const apart = { ...surroundings, sessionId: () => `import_${crypto.randomUUID()}` };
  const { sessions } = await importSessions({ agents, store, surroundings: apart }, call, [file]);
  if (!sessions.some((session) => session.agent === agent)) throw new TypeError(`the file holds no session of ${agent}`);
}

async function restore({ clientOf }: Stage, agent: string, { messages, ...fixture }: MessagesFixture & { sessionId: string }): Promise<void> {
  const { sessionId, name, metadata } = fixture;
  await clientOf(agent).restore(messages, { sessionId, name, metadata: { ...metadata } });
}

async function append({ clientOf }: Stage, agent: string, { events, ...fixture }: EventsFixture & { sessionId: string }): Promise<void> {
  const { sessionId, name, metadata, variables } = fixture;
  const client = clientOf(agent);
  await client.create({ sessionId, name, metadata: { ...metadata }, variables });
  for (let start = 0; start < events.length; start += 1000) {
    const part: readonly EventInput[] = events.slice(start, start + 1000);
    await client.append(sessionId, { events: part });
  }
}

/** A fixture says what came of its calls. Where something else did, the definition doesn't let it. */
async function checkResults(stage: Stage, agent: string, sessionId: string): Promise<void> {
  const { runStatus } = await stage.clientOf(agent).get(sessionId);
  if (runStatus === "stopped" || runStatus === "failed") return;
  const fault = await faultIn(stage, agent, sessionId);
  if (fault !== undefined) throw new TypeError(fault);
}
