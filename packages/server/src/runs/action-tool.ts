import { faultOf, InvalidArguments, type ActionTool, type ClientActionTool, type LoopCall } from "@orcha/agent/loop";
import { argumentsSchemaOf, exceedsBytes, formatPath, maxTextBytes, type ActionDefinition, type ClientActionDefinition, type Schema } from "@orcha/contract";
import { keysOf } from "../metadata.ts";
import type { Action, ActionContext } from "./implementation.ts";

/** What every action of a run is told. */
export interface ActionSurroundings {
  agent: string;
  sessionId: string;
  metadata: ActionContext["metadata"];
  timeoutMs: number;
}

/** Makes an action callable: its input and its output are checked against the definition, and its time is limited. */
export function actionTool(
  name: string,
  definition: ActionDefinition,
  action: Action<unknown, unknown, unknown>,
  { agent, sessionId, metadata, timeoutMs }: ActionSurroundings,
): ActionTool {
  const idempotencyKey = ({ callId }: LoopCall): string => `${sessionId}:${callId}`;
  return {
    kind: "action",
    ...described(name, definition, agent),
    idempotencyKey,
    async execute(call, signal) {
      const input = await checked(definition.input, call.arguments, "the arguments").catch((error: unknown) => {
        throw new InvalidArguments(faultOf(error, "the arguments could not be checked"));
      });
      const output = await inTime(timeoutMs, signal, async (limited) =>
        action(input, {
          sessionId,
          metadata: { ...metadata },
          callId: call.callId,
          idempotencyKey: idempotencyKey(call),
          signal: limited,
          log: (message, fields = {}) => console.info(`orcha: ${agent}.${name}: ${message}`, fields),
        }),
      );
      const result = definition.output ? await checked(definition.output, output, "the result") : output;
      if (exceedsBytes(JSON.stringify(result) ?? "", maxTextBytes)) throw new Error("the result is larger than 1 MiB of JSON");
      return result;
    },
  };
}

/** Lets the model ask a client; what it asks is checked first, so that no app sees arguments that its types deny. */
export function clientActionTool(name: string, definition: ClientActionDefinition, agent: string): ClientActionTool {
  return {
    kind: "client_action",
    ...described(name, definition, agent),
    ...(definition.expiresInMs === undefined ? {} : { expiresInMs: definition.expiresInMs }),
    async findFault(input) {
      try {
        await checked(definition.input, input, "the arguments");
        return undefined;
      } catch (error) {
        return faultOf(error, "the arguments could not be checked");
      }
    },
  };
}

function described(name: string, { description, input }: ActionDefinition, agent: string) {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: argumentsSchemaOf(input, [agent, name, "input"]),
  };
}

/** The value as its schema lets it out. Throws an error that says where it is wrong: the model reads it. */
async function checked(schema: Schema, value: unknown, what: string): Promise<unknown> {
  const result = await schema["~standard"].validate(value);
  const issue = result.issues?.[0];
  if (!issue) return "value" in result ? result.value : value;
  const at = formatPath(keysOf(issue.path));
  throw new Error(`${what} can't be used: ${at === "" ? "" : `${at}: `}${issue.message}`);
}

/** Ends the wait at the limit or with the run, whether or not the work listens to its signal. */
export function inTime<T>(limitMs: number, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const timer = setTimeout(() => end(new Error(`gave no result within ${limitMs} ms`)), limitMs);
    const onAbort = (): void => end(new Error("the run was interrupted"));
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    else {
      work(controller.signal).then(succeed, end);
    }

    function succeed(value: T): void {
      cleanUp();
      resolve(value);
    }

    function end(error: unknown): void {
      cleanUp();
      reject(error);
      controller.abort(error);
    }

    function cleanUp(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  });
}
