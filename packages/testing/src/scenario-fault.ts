import { formatPath, isPlainObject, type AgentDefinition, type Agents, type Path } from "@orcha/contract";

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
    const { sessions, script, actions, evaluations } = checkShape(own, agentShape, [agent]);
    checkKeys(actions, agents[agent]?.definition.actions, agent, [agent, "actions"]);
    checkScores(evaluations, agents, agent, [agent, "evaluations"]);
    for (const [index, session] of listOf(sessions, [agent, "sessions"])) {
      const path = [agent, "sessions", index];
      const { history } = checkShape(session, sessionShape, path);
      for (const [place, entry] of listOf(history, [...path, "history"])) checkStep(entry, entryShape, agents, agent, [...path, "history", place]);
    }
    if (typeof script !== "function") checkSteps(script, agents, agent, [agent, "script"]);
  }
}

/** Throws as `checkScenario` does, for the steps of one run of an agent. */
export function checkSteps(steps: unknown, agents: Agents, agent: string, path: Path): void {
  for (const [index, step] of listOf(steps, path)) checkStep(step, stepShape, agents, agent, [...path, index]);
}

function checkStep(value: unknown, shape: Shape, agents: Agents, agent: string, path: Path): void {
  const step = checkShape(value, shape, path);
  const kinds = shape.kinds.filter((kind) => step[kind] !== undefined);
  if (kinds.length === 0) throw fault(path, `says nothing: ${shape.name} has one of ${shape.kinds.join(", ")}`);
  const isAlone = kinds.some((kind) => alone.includes(kind));
  const [first, second] = kinds.filter((kind) => isAlone || exclusive.includes(kind));
  if (second !== undefined) throw fault(path, `has ${first} and ${second}: ${shape.name} has one of them`);
  for (const [index, call] of listOf(step["calls"], [...path, "calls"])) checkStep(call, callShape, agents, agent, [...path, "calls", index]);
  const { actions = {}, clientActions = {}, skills = {}, subagents = [] } = agents[agent]?.definition ?? {};
  const names = { action: Object.keys(actions), clientAction: Object.keys(clientActions), skill: Object.keys(skills), subagent: subagents };
  for (const [kind, known] of Object.entries(names)) checkName(step[kind], known, agent, [...path, kind]);
  checkScores(step["evaluations"], agents, agent, [...path, "evaluations"]);
  checkSteps(step["steps"], agents, String(step["subagent"]), [...path, "steps"]);
}

/** A model may make names up, but a test that misspells one means another. */
function checkName(name: unknown, known: readonly string[], owner: string, path: Path): void {
  if (name === undefined || known.some((one) => one === name)) return;
  throw fault(path, `is ${JSON.stringify(name)}; ${owner} has ${known.length === 0 ? "none" : known.join(", ")}`);
}

function checkKeys(record: unknown, known: object | undefined, owner: string, path: Path): void {
  if (record === undefined) return;
  for (const [key] of fieldsOf(record, path)) {
    if (!known || !Object.hasOwn(known, key)) throw fault([...path, key], `is unknown; ${owner} has ${Object.keys(known ?? {}).join(", ") || "none"}`);
  }
}

function checkScores(scores: unknown, agents: Agents, agent: string, path: Path): void {
  const known: AgentDefinition["evaluations"] = agents[agent]?.definition.evaluations;
  checkKeys(scores, known, agent, path);
  for (const [name, own] of scores === undefined ? [] : fieldsOf(scores, path)) checkKeys(own, known?.[name]?.metrics, name, [...path, name]);
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
