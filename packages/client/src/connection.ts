import type { CallOptions, WriteOptions } from "./agent-client.ts";
import { attempt } from "./attempt.ts";
import { invalidInput } from "./error.ts";
import { createTransport, type CallContext, type Heard, type ListenedName, type Rpc } from "./http.ts";
import { createIdempotencyKey } from "./idempotency-key.ts";
import { checkInput } from "./json.ts";
import type { Settings } from "./options.ts";
import { retry } from "./retry.ts";

/** One operation of the server: one call is one request. */
type Operation<Input, Answer> = (input: Input, options: { signal: AbortSignal; context: CallContext }) => Promise<Answer>;

type InputOf<O> = O extends Operation<infer Input, infer _Answer> ? Input : never;

/** The way to the server: input is checked, and attempts are limited in time and repeated. */
export interface Connection {
  readonly rpc: Rpc;
  /** Sends what may be answered by a stream: one attempt, limited in time until it opens. */
  listen: (operation: ListenedName, input: object, context: CallContext, signal: AbortSignal) => Promise<Heard>;
  readonly retry: Settings["retry"];
  /** Reads: what isn't of the call's options is the input. */
  read: <Input extends object, Answer>(operation: Operation<Input, Answer>, input: NoInfer<Input> & CallOptions) => Promise<Answer>;
  /** Like `read`; all attempts of one call carry the same idempotency key. */
  write: <Input extends object, Answer>(operation: Operation<Input, Answer>, input: NoInfer<Input> & WriteOptions) => Promise<Answer>;
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
    // What is left without the options is the input that the operation takes; a rest of a type parameter has no type.
    read: (operation, { signal, ...input }) => call(operation, input as unknown as InputOf<typeof operation>, {}, signal),
    async write(operation, { signal, idempotencyKey, ifSequence, ...input }) {
      const context = readContext({ idempotencyKey, ifSequence });
      return call(operation, input as unknown as InputOf<typeof operation>, context, signal);
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
