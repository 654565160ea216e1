import { CommandFailure } from "./failure.ts";

/** Answers one request, as `fetch` does. */
export type Answer = (request: Request) => Promise<Response>;

/** A failure that the server names. */
export class ServerFailure extends CommandFailure {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** How to talk to a server, be it in this process. */
export interface ServerAccess {
  baseUrl: string;
  token?: string;
  answer: Answer;
}

/** Calls one operation over RPC. Throws `ServerFailure` with the server's own words. */
export async function callRpc<T>({ baseUrl, token, answer }: ServerAccess, operation: string, input: unknown): Promise<T> {
  const response = await answer(
    new Request(`${baseUrl}/rpc/${operation}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ json: input }),
      redirect: "manual",
    }),
  );
  const body = read(await response.text());
  if (!body) throw new CommandFailure(`${baseUrl} answers ${response.status}, and not as an Orcha server does`);
  if (response.ok) return body.json as T;
  const { code, message } = (body.json ?? {}) as { code?: unknown; message?: unknown };
  throw new ServerFailure(String(code), typeof message === "string" ? message : `the server answers ${response.status}`);
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

/** Asks a server that may not be there. */
export async function answerOver(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
    throw new CommandFailure(`${new URL(request.url).origin} can't be reached${cause?.code === undefined ? "" : ` (${cause.code})`}`);
  }
}
