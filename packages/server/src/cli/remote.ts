import { CommandFailure } from "./failure.ts";

/** Answers one request, as `fetch` does. */
export type Answer = (request: Request) => Promise<Response>;

/** What a server answered. */
export interface Answered {
  status: number;
  text: string;
}

/** A failure that the server names. */
export class ServerFailure extends CommandFailure {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Where a server is, and the token that it wants. */
export interface Server {
  base: string;
  token: string | undefined;
}

/** Calls one operation over RPC. Throws `ServerFailure` with the server's own words. */
export async function callRpc<T>(answer: Answer, server: Server, operation: string, input: unknown): Promise<T> {
  const response = await answer(
    new Request(`${server.base}/rpc/${operation}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...authorization(server) },
      body: JSON.stringify({ json: input }),
      redirect: "manual",
    }),
  );
  return readAnswer(await whole(response, server), server).json as T;
}

/** Reads one page of the server's REST interface. Throws `ServerFailure` with the server's own words. */
export async function readPage(server: Server, path: string): Promise<unknown> {
  const request = new Request(server.base + path, { headers: authorization(server), redirect: "manual" });
  const response = await answerOver(request);
  return readAnswer(await whole(response, server), server);
}

async function whole(response: Response, { base }: Server): Promise<Answered> {
  try {
    return { status: response.status, text: await response.text() };
  } catch {
    throw new CommandFailure(`${base} broke off in the midst of its answer`);
  }
}

/** Shows the token, where there is one. */
export function authorization({ token }: Server): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** Reads a JSON answer, of RPC in its envelope. Throws `ServerFailure` with the server's own words. */
export function readAnswer({ status, text }: Answered, { base }: Server): { json?: unknown } {
  const body = read(text);
  if (!body) throw new CommandFailure(`${base} answers ${status}, and not as an Orcha server does`);
  if (status >= 200 && status < 300) return body;
  const { code, message } = (body.json ?? body) as { code?: unknown; message?: unknown };
  throw new ServerFailure(String(code), typeof message === "string" ? message : `the server answers ${status}`);
}

function read(text: string): { json?: unknown } | undefined {
  if (text === "") return {};
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}

/** How long a server may take to begin its answer, in milliseconds. */
const patienceMs = 60_000;

/** Asks a server that may not be there, or not answer. */
export async function answerOver(request: Request): Promise<Response> {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), patienceMs);
  try {
    return await fetch(request, { signal: AbortSignal.any([request.signal, patience.signal]) });
  } catch (error) {
    if (patience.signal.aborted) throw new CommandFailure(`${new URL(request.url).origin} gave no answer for ${patienceMs / 1000} seconds`);
    throw unreachable(request.url, error);
  } finally {
    clearTimeout(timer);
  }
}

/** Says that a server could not be asked. */
export function unreachable(url: string, error: unknown): CommandFailure {
  // `fetch` wraps what happened; a socket says it itself.
  const { code } = error instanceof Error ? ((error.cause ?? error) as NodeJS.ErrnoException) : {};
  return new CommandFailure(`${new URL(url).origin} can't be reached${code === undefined ? "" : ` (${code})`}`);
}
