import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect } from "vitest";

export const root = join(import.meta.dirname, "../..");

/** Runs a program to its end, and answers what it printed; the test fails where it fails. */
export function run(command: string, parameters: readonly string[], cwd: string, env: Record<string, string> = {}): string {
  const { status, stdout, stderr } = spawnSync(command, parameters, { cwd, encoding: "utf8", env: { ...process.env, ...env } });
  expect(status, `${command} ${parameters.join(" ")}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

export function pnpm(parameters: readonly string[], cwd: string): string {
  return run("npx", ["-y", "--prefer-offline", "pnpm@12.21.0", ...parameters], cwd);
}
