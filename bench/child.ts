import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

// This file may be compiled itself.
const root = new URL(import.meta.url.endsWith(".ts") ? "." : "..", import.meta.url);

/** The longest that a child may think about one question, in milliseconds. */
const patienceMs = 60_000;

/** A process of our own that answers questions, one after the other. */
export interface Child {
  /** Sends a question; answers what comes back. */
  ask(question: unknown): Promise<unknown>;
  stop(): void;
}

/** Starts a compiled program of this folder; answers once it has said its first word, which is `hello`. */
export async function startChild(
  program: string,
  parameters: readonly string[],
  errors: "inherit" | "ignore" = "inherit",
): Promise<Child & { hello: unknown }> {
  // Compiled: types that are stripped at the start take time and memory of their own.
  const file = fileURLToPath(new URL(`dist/${program}.js`, root));
  const child = fork(file, parameters, { stdio: ["ignore", "ignore", errors, "ipc"], execArgv: [] });
  try {
    const hello = await nextWord(child);
    return {
      hello,
      ask(question) {
        const answer = nextWord(child);
        child.send(question as object);
        return answer;
      },
      stop: () => void child.kill(),
    };
  } catch (error) {
    child.kill();
    throw error;
  }
}

function nextWord(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => end(() => reject(new Error("a child process is silent"))), patienceMs);
    const hear = (word: unknown) => end(() => resolve(word));
    const leave = (code: number | null) => end(() => reject(new Error(`a child process ended with ${code}`)));
    function end(settle: () => void): void {
      clearTimeout(timer);
      child.off("message", hear);
      child.off("exit", leave);
      settle();
    }
    child.on("message", hear);
    child.on("exit", leave);
  });
}
