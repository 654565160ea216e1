import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { start } from "../cli/orcha.ts";
import { temporaryFolders } from "../stores.ts";
import { root, run } from "./pnpm.ts";

const folders = temporaryFolders();
const text = (file: string): string => readFileSync(join(root, file), "utf8");

interface Instruction {
  stage: number;
  name: string;
  rest: string;
}

/** The Dockerfile; none of its instructions goes on in a second line. */
const instructions: Instruction[] = [];
for (const line of text("Dockerfile").split("\n")) {
  const [, name, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
  if (name !== undefined && rest !== undefined) instructions.push({ stage: (instructions.at(-1)?.stage ?? 0) + (name === "FROM" ? 1 : 0), name, rest });
  else if (!/^(#.*)?$/.test(line)) throw new Error(`Dockerfile: ${line}`);
}
const of = (stage: number, name: string): string[] => instructions.filter((each) => each.stage === stage && each.name === name).map(({ rest }) => rest);
const commandLine = (rest: string | undefined): string[] => JSON.parse(rest ?? "") as string[];

/** What the first stage copies from the repository. */
const copied = of(1, "COPY").flatMap((rest) => rest.split(" ").slice(0, -1));

const answers = (...command: string[]): boolean => spawnSync("docker", command, { timeout: 10_000 }).status === 0;
const hasEngine = answers("info");
const hasCompose = answers("compose", "version");

interface Service {
  build?: string;
  image?: string;
  environment: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  ports?: string[];
  volumes?: string[];
  stop_grace_period?: string;
  healthcheck: { test: string[] };
}
const compose = parse(text("compose.yaml")) as { services: { server: Service; postgres: Service }; volumes: Record<string, unknown> };

describe("the image", () => {
  test("copies what there is, and what .dockerignore lets through", () => {
    const letThrough = text(".dockerignore").split("\n").filter((line) => line.startsWith("!")).map((line) => line.slice(1));
    expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(copied.toSorted()).toEqual(letThrough.toSorted());
  });

  test("runs as somebody, with a volume that is theirs, and asks itself whether it lives", () => {
    expect(of(2, "USER")).toEqual(["node"]);
    expect(of(2, "VOLUME")).toEqual(["/data"]);
    expect(of(2, "ENV")).toContain("ORCHA_FILE=/data/orcha.db");
    expect(of(2, "HEALTHCHECK").join()).toContain("/healthz");
  });

  // No engine is needed: the steps are commands, and run in a folder as they would in the image.
  test("its steps build a server that starts, is healthy and stops", { timeout: 120_000 }, async () => {
    const folder = await folders();
    const build = join(folder, "build");
    for (const path of copied) {
      const skipped = (source: string): boolean => ["node_modules", "dist"].includes(basename(source));
      cpSync(join(root, path), join(build, path), { recursive: true, filter: (source) => !skipped(source) });
    }
    const [global, ...steps] = of(1, "RUN");
    const version = /^npm install --global (pnpm@[\d.]+)$/.exec(global ?? "")?.[1];
    // Nothing is installed on this machine for a test.
    mkdirSync(join(folder, "bin"));
    // The workspace's own install has everything; asking the registry again takes a minute where there is none.
    const asked = `npx -y --prefer-offline ${version}`;
    writeFileSync(join(folder, "bin/pnpm"), `#!/bin/sh\n${asked} --offline "$@" || exec ${asked} "$@"\n`);
    chmodSync(join(folder, "bin/pnpm"), 0o755);
    const env = { PATH: `${join(folder, "bin")}:${process.env["PATH"]}` };
    for (const step of steps) run("sh", ["-c", step], build, env);

    const app = join(folder, "app");
    const [made, into] = of(2, "COPY").map((rest) => /^--from=build \/build\/(\S+) (\S+)$/.exec(rest)?.slice(1) ?? [])[0] ?? [];
    expect(into).toBe("./");
    cpSync(join(build, made ?? ""), app, { recursive: true, verbatimSymlinks: true });
    const [, ...command] = commandLine(of(2, "CMD")[0]);
    const [, ...check] = commandLine(/ CMD (.+)$/.exec(of(2, "HEALTHCHECK")[0] ?? "")?.[1]);

    const refused = await start([process.execPath, ...command], { cwd: app }).ended;
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("ORCHA_TOKEN_SHA256 must hold") });

    const server = start([process.execPath, ...command, "--port", "0"], { cwd: app, env: { ORCHA_TOKEN_SHA256: "a".repeat(64), ORCHA_FILE: join(folder, "orcha.db") } });
    onTestFinished(() => void server.child.kill("SIGKILL"));
    const port = /:(\d+)$/m.exec(await server.printed(/Orcha serves .*\n/))?.[1] ?? "";
    const code = async (): Promise<number | null> => (await start([process.execPath, ...check.map((word) => word.replace("4310", port))], { cwd: app }).ended).code;
    expect(await code()).toBe(0);
    expect(existsSync(join(folder, "orcha.db"))).toBe(true);
    server.child.kill("SIGTERM");
    expect(await once(server.child, "exit")).toEqual([0, null]);
    expect(await code()).toBe(1);
  });

  test.skipIf(!hasEngine)(`is built by docker${hasEngine ? "" : " (skipped: no engine answers)"}`, { timeout: 600_000 }, () => {
    run("docker", ["build", "--check", "."], root);
    expect(run("docker", ["build", "--quiet", "."], root)).toContain("sha256:");
  });
});

describe("compose.yaml", () => {
  const { server, postgres } = compose.services;

  test("builds the server here, and starts it once Postgres 18 is healthy", () => {
    expect(server.build).toBe(".");
    expect(server.depends_on).toEqual({ postgres: { condition: "service_healthy" } });
    expect(postgres.image).toBe("postgres:18");
    expect(postgres.healthcheck.test).toContain("pg_isready");
    expect(server.healthcheck.test.join(" ")).toContain(`:${server.ports?.[0]?.split(":").at(-1)}/readyz`);
  });

  test("keeps the data in a volume with a name, and no secret", () => {
    expect(postgres.volumes?.map((volume) => volume.split(":")[0])).toEqual(Object.keys(compose.volumes));
    const secrets = [server, postgres].flatMap(({ environment }) => Object.entries(environment).filter(([name]) => /PASSWORD|TOKEN/.test(name)));
    expect(secrets).toHaveLength(3);
    for (const [name, value] of secrets) expect(`${name}: ${value}`).toMatch(/: \$\{[A-Z\d_]+:\?.+\}$/);
  });

  test("gives the configuration the variables that it reads", () => {
    const read = /const \{ (.+) \} = process\.env/.exec(text("examples/deploy/orcha.config.ts"))?.[1]?.split(", ").map((name) => name.split(" ")[0]) ?? [];
    expect(read).toEqual(expect.arrayContaining(Object.keys(server.environment).filter((name) => name !== "PGPASSWORD")));
  });

  test("waits longer for the server's end than open requests may take", () => {
    expect(Number.parseInt(server.stop_grace_period ?? "", 10)).toBeGreaterThan(10);
  });

  test.skipIf(!hasCompose)(`is read by docker compose${hasCompose ? "" : " (skipped: no docker compose)"}`, () => {
    const read = run("docker", ["compose", "config", "--services"], root, { POSTGRES_PASSWORD: "given", ORCHA_TOKEN_SHA256: "a".repeat(64) });
    expect(read.trim().split("\n").toSorted()).toEqual(["postgres", "server"]);
  });
});
