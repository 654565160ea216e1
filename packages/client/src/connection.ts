import type { CallOptions, WriteOptions } from "./agent-client.ts";
import { attempt } from "./attempt.ts";
import { invalidInput } from "./error.ts";
import { createTransport, type CallContext, type Rpc } from "./http.ts";
import { createIdempotencyKey } from "./idempotency-key.ts";
import { checkInput } from "./json.ts";
import type { Settings } from "./options.ts";
import { retry } from "./retry.ts";

/** One operation of the server: one call is one request. */
type Operation<Input, Answer> = (input: Input, options: { signal: AbortSignal; context: CallContext }) => Promise<Answer>;

/** The way to the server: input is checked, and attempts are limited in time and repeated. */
export interface Connection {
  readonly rpc: Rpc;
  /** Sends a write whose answer may be a stream: one attempt, limited in time until it opens. */
  listen: (operation: "run" | "resume", input: object, context: CallContext, signal: AbortSignal) => Promise<unknown>;
  readonly retry: Settings["retry"];
  read: <Input extends object, Answer>(
    operation: Operation<Input, Answer>,
    input: NoInfer<Input>,
    options: CallOptions,
  ) => Promise<Answer>;
  /** Like `read`; all attempts of one call carry the same idempotency key. */
  write: <Input extends object, Answer>(
    operation: Operation<Input, Answer>,
    input: NoInfer<Input>,
    options: WriteOptions,
  ) => Promise<Answer>;
}

/** Opens the way to a server; nothing is sent yet. */
export function connect(settings: Settings): Connection {
  async function call<Input extends object, Answer>(
    operation: Operation<Input, Answer>,
    input: Input,
    context: CallContext,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    checkInput(input);
    return retry(
      () => attempt((limited) => operation(input, { signal: limited, context }), settings.timeoutMs, signal),
      settings.retry,
      signal,
    );
  }
  const { rpc, listen } = createTransport(settings);
  return {
    rpc,
    retry: settings.retry,
    async listen(operation, input, context, signal) {
      checkInput(input);
      return attempt(() => listen(operation, input, context, signal), settings.timeoutMs, signal);
    },
    read: (operation, input, { signal }) => call(operation, input, {}, signal),
    async write(operation, input, { signal, ...options }) {
      return call(operation, input, readContext(options), signal);
    },
  };
}

/** Checks what travels beside a write, and makes its key where none is given. Throws `invalid_input`. */
export function readContext({ idempotencyKey = createIdempotencyKey(), ifSequence }: CallContext): CallContext {
  if (typeof idempotencyKey !== "string" || !/^[!-~]{1,255}$/.test(idempotencyKey)) {
    throw invalidInput("idempotencyKey", "must be 1 to 255 visible ASCII characters");
  }
  if (ifSequence !== undefined && !(Number.isSafeInteger(ifSequence) && ifSequence >= 1)) {
    throw invalidInput("ifSequence", "must be an integer of 1 or more");
  }
  return { idempotencyKey, ifSequence };
}
