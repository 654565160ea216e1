import { CommanderError } from "commander";
import { CommandFailure, exitCodes, Interrupted, wordsOf } from "./failure.ts";
import { createProgram } from "./program.ts";
import { Terminal } from "./terminal.ts";

/** Runs the command that the process was started with; its end is the process's exit code. */
export async function main(): Promise<void> {
  const terminal = new Terminal();
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // Whoever read has seen enough: `orcha list | head`.
      if (error.code === "EPIPE") process.exit(process.exitCode ?? 0);
      if (stream === process.stdout) terminal.fail(`the output can't be written (${error.code ?? error.message})`);
      process.exit(exitCodes.failed);
    });
  }
  process.on("SIGINT", () => terminal.interrupt(exitCodes.interrupted));
  process.on("SIGTERM", () => terminal.interrupt(143));
  try {
    await createProgram(terminal).parseAsync();
  } catch (error) {
    process.exitCode = exitCodeOf(error, terminal);
  }
}

function exitCodeOf(error: unknown, terminal: Terminal): number {
  // Commander has said what it had to say: help, the version, or what is wrong with a flag.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.usage;
  terminal.fail(error instanceof Interrupted ? "interrupted" : wordsOf(error));
  return error instanceof CommandFailure ? error.exitCode : exitCodes.failed;
}
