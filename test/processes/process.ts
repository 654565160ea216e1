import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createOrcha, type OrchaOptions } from "@orcha/client";
import type { agents } from "../agents.ts";
import type { TestClient } from "../harness.ts";

/** Where a server process keeps its sessions. */
export type Place = { sqlite: { file: string; synchronous?: "FULL" | "NORMAL" } } | { postgres: { connectionString: string; schema: string } };

/** A server in a process of its own. */
export interface ServerProcess {
  child: ChildProcess;
  url: string;
  /** Ends the process at once, as a power cut would. */
  kill(): Promise<void>;
}

/** Starts a server process. Rejects with what it printed where it doesn't come up. */
export async function startServer(place: Place, shell?: (command: string) => string): Promise<ServerProcess> {
  return startProgram("server.ts", place, shell);
}

/** Starts a program of this folder that prints where it listens. */
export async function startProgram(name: string, input: object, shell?: (command: string) => string): Promise<ServerProcess> {
  const command = [process.execPath, "--conditions=orcha-source", join(import.meta.dirname, name), JSON.stringify(input)];
  const child = shell
    ? spawn("sh", ["-c", shell(command.map((word) => `'${word}'`).join(" "))], { stdio: ["ignore", "pipe", "pipe"] })
    : spawn(command[0] ?? "node", command.slice(1), { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exited = once(child, "exit");
  for (;;) {
    const url = /listening on (\S+)/.exec(output)?.[1];
    if (url !== undefined) {
      return {
        child,
        url,
        async kill() {
          child.kill("SIGKILL");
          await exited;
        },
      };
    }
    if (child.exitCode !== null) throw new Error(output.trim());
    await Promise.race([once(child.stdout, "data"), exited]);
  }
}

/** A client of a server process. */
export function clientAt(url: string, options: Partial<OrchaOptions> = {}): TestClient {
  return createOrcha<typeof agents>({ baseUrl: url, ...options } as OrchaOptions<typeof agents>);
}
