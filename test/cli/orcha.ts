import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { terminalOf } from "../terminal.ts";

const root = join(import.meta.dirname, "../..");

/** The program and what comes before its arguments. */
export const program = [process.execPath, "--conditions=orcha-source", join(root, "packages/server/src/cli/orcha.ts")] as const;

/** The same as a person would type it in a shell. */
export const typed = program.map((word) => `'${word}'`).join(" ");

export const configFile = join(import.meta.dirname, "orcha.config.ts");

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Place {
  cwd: string;
  env?: Record<string, string>;
  input?: string | Uint8Array;
}

/** What a running program has printed, and its end. */
export interface Running {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** Waits for text on the output. */
  printed(text: RegExp): Promise<string>;
}

/** Runs the real program to its end. */
export function orcha(args: readonly string[], place: Place): Promise<Ended> {
  return start([...program, ...args], place).ended;
}

/**
 * Runs a line of shell, in which `orcha` is the real program. Without anybody's start-up file: bash takes a socket, which
 * Node's pipes are, for a login from afar, and reads it.
 */
export function shell(line: string, place: Place): Promise<Ended> {
  return start(["bash", "--norc", "-o", "pipefail", "-c", `orcha() { ${typed} "$@"; }; ${line}`], place).ended;
}

/** Runs a command in a pseudo-terminal of 60 columns. */
export function inTerminal(command: string, { columns, ...place }: Place & { columns?: number }): Running {
  return start(terminalOf(command, columns), place);
}

export function start([command = "", ...args]: readonly string[], { cwd, env, input }: Place): Running {
  // Node takes CI for a place without colours, even where there is a terminal.
  const { CI: _ci, NO_COLOR: _no, FORCE_COLOR: _force, ORCHA_URL: _url, ORCHA_TOKEN: _token, ...rest } = process.env;
  const child = spawn(command, args, { cwd, env: { ...rest, TERM: "xterm-256color", ...env } });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) child[name].on("data", (chunk: Buffer) => (output[name] += chunk.toString()));
  // A program that ends early doesn't read all of its input.
  child.stdin.on("error", () => {});
  if (input !== undefined) child.stdin.end(input);
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, ...output }));
  return {
    child,
    ended,
    async printed(text) {
      while (!text.test(output.stdout)) {
        if (child.exitCode !== null) throw new Error(output.stdout + output.stderr);
        await Promise.race([new Promise((resolve) => child.stdout.once("data", resolve)), ended]);
      }
      return output.stdout;
    },
  };
}

/** The most memory that a process had so far, in megabytes; nothing where the system doesn't say. */
export function peakMegabytes(pid: number | undefined): number | undefined {
  try {
    const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}
