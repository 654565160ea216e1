/**
 * How a command ends: 0 done, 1 failed, 2 wrong usage, 130 interrupted. A run that did begin has codes of its own: 3 it
 * failed, 4 it waits for client actions, 5 it was stopped or paused.
 */
export const exitCodes = { failed: 1, usage: 2, runFailed: 3, runWaits: 4, runInterrupted: 5, interrupted: 130 } as const;

/** A failure in one line that says what to do. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failed) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** A failure of whoever typed the command. */
export function wrongUsage(message: string): CommandFailure {
  return new CommandFailure(message, exitCodes.usage);
}

/** What an interrupted command is ended with. */
export class Interrupted extends CommandFailure {
  constructor(exitCode: number = exitCodes.interrupted) {
    super("interrupted", exitCode);
  }
}

/** Makes one line of whatever went wrong. */
export function wordsOf(error: unknown): string {
  const { message, code, path } = error instanceof Error ? (error as NodeJS.ErrnoException) : { message: String(error) };
  if (code === "ENOENT" && path !== undefined) return `there is no file ${path}`;
  if (code === "EISDIR") return "that is a folder, not a file";
  if (code === "EACCES" && path !== undefined) return `${path} may not be opened by this user`;
  const hint = typeof code === "string" ? hints[code] : undefined;
  return `${message.split("\n", 1)[0] ?? ""}${hint === undefined ? "" : `. ${hint}`}`;
}

const hints: Partial<Record<string, string>> = {
  session_exists: "Import a copy under a new id: --new-ids",
  agent_not_found: "Name the agent: --agent NAME",
  client_action_required: "That is --tool-results, or orcha chat; orcha stop cancels it",
  session_not_found: "See which there are: orcha list",
  unauthorized: "Give a token: --token, or ORCHA_TOKEN in the environment",
  EADDRINUSE: "Take another port: --port 4311",
};
