import { formatPath, isPlainObject, type Agents, type Path } from "@orcha/contract";

/*
 * What the types say of a scenario, said again for those who write it without them: a word that nobody knows would
 * otherwise be a step that does nothing, and a test that passes for no reason.
 */

/** What a thing in a scenario may have, and what it has one of. */
interface Shape {
  name: string;
  /** One of these says what it is. */
  kinds: readonly string[];
  others: readonly string[];
}

const calls = ["action", "clientAction", "skill", "subagent"];
const ofCalls = ["callId", "arguments", "output", "error", "takesMs", "hangs", "outcome", "reason", "input", "steps"];
const said = ["reasoning", "chunkSize", "delayMs", "usage", "cutAfterChunks", "evaluations"];

const callShape: Shape = { name: "a call", kinds: calls, others: ofCalls };
const stepShape: Shape = { name: "a step", kinds: [...calls, "calls", "fail", "text", "output"], others: [...said, ...ofCalls] };
const entryShape: Shape = { ...stepShape, name: "an entry", kinds: ["user", "stopped", ...stepShape.kinds], others: [...stepShape.others, "at"] };
const agentShape: Shape = { name: "an agent", kinds: [], others: ["sessions", "script", "actions", "evaluations"] };
const sessionShape: Shape = {
  name: "a session",
  kinds: [],
  others: ["history", "messages", "events", "bundle", "sessionId", "name", "metadata", "variables", "createdAt", "ended"],
};

/** Kinds that nothing else may stand beside. */
const alone = ["user", "stopped"];

/** Kinds that only a text or an output may stand beside. */
const exclusive = [...alone, ...calls, "calls", "fail"];

/** Throws a `TypeError` that names the first place of a scenario that no mock understands, and what may stand there. */
export function checkScenario(agents: Agents, scenario: unknown): void {
  for (const [agent, own] of fieldsOf(scenario, [])) {
    if (!Object.hasOwn(agents, agent)) throw fault([agent], `is no agent; there are ${Object.keys(agents).join(", ")}`);
    const { sessions, script } = checkShape(own, agentShape, [agent]);
    for (const [index, session] of listOf(sessions, [agent, "sessions"])) {
      const path = [agent, "sessions", index];
      const { history } = checkShape(session, sessionShape, path);
      for (const [place, entry] of listOf(history, [...path, "history"])) checkStep(entry, entryShape, [...path, "history", place]);
    }
    if (typeof script !== "function") checkSteps(script, [agent, "script"]);
  }
}

/** Throws as `checkScenario` does, for the steps of one run. */
export function checkSteps(steps: unknown, path: Path): void {
  for (const [index, step] of listOf(steps, path)) checkStep(step, stepShape, [...path, index]);
}

function checkStep(value: unknown, shape: Shape, path: Path): void {
  const step = checkShape(value, shape, path);
  const kinds = shape.kinds.filter((kind) => step[kind] !== undefined);
  if (kinds.length === 0) throw fault(path, `says nothing: ${shape.name} has one of ${shape.kinds.join(", ")}`);
  const isAlone = kinds.some((kind) => alone.includes(kind));
  const [first, second] = kinds.filter((kind) => isAlone || exclusive.includes(kind));
  if (second !== undefined) throw fault(path, `has ${first} and ${second}: ${shape.name} has one of them`);
  for (const [index, call] of listOf(step["calls"], [...path, "calls"])) checkStep(call, callShape, [...path, "calls", index]);
  checkSteps(step["steps"], [...path, "steps"]);
}

function checkShape(value: unknown, { name, kinds, others }: Shape, path: Path): Record<string, unknown> {
  const known = [...kinds, ...others];
  const fields = fieldsOf(value, path);
  const unknown = fields.find(([key]) => !known.includes(key));
  if (unknown) throw fault([...path, unknown[0]], `is unknown; ${name} has ${known.join(", ")}`);
  return Object.fromEntries(fields);
}

function fieldsOf(value: unknown, path: Path): [string, unknown][] {
  if (isPlainObject(value)) return Object.entries(value).filter(([, field]) => field !== undefined);
  throw fault(path, "must be an object");
}

function listOf(value: unknown, path: Path): Iterable<[number, unknown]> {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.entries();
  throw fault(path, "must be a list");
}

function fault(path: Path, reason: string): TypeError {
  return new TypeError(`${path.length === 0 ? "the scenario" : formatPath(path)} ${reason}`);
}
