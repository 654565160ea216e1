import type { AgentMessage } from "@orcha/contract";
import { Option, type Command } from "commander";
import { targetFlags, withExamples, withTarget } from "./flags.ts";
import type { SessionName } from "../export-source.ts";
import { wrongUsage } from "./failure.ts";
import { count, megabytes, Progress } from "./progress.ts";
import { openTarget, type Target, type TargetFlags } from "./target.ts";
import type { Terminal } from "./terminal.ts";
import { plain } from "./text.ts";
import { writeWhole } from "./whole-file.ts";

interface Flags {
  target: TargetFlags;
  format: "bundle" | "jsonl" | "messages";
  output?: string;
}

/** `orcha export`: writes sessions to a file or a pipe. */
export function addExport(program: Command, terminal: Terminal): void {
  const command = program
    .command("export")
    .argument("[sessions...]", "their ids; by default all of the agent's")
    .description("Exports sessions, with those that they delegated to, as a bundle that orcha import takes")
    .addOption(new Option("--format <format>", "a bundle, or of one session its log or its messages").choices(["bundle", "jsonl", "messages"]).default("bundle"))
    .option("-o, --output <path>", "a file, which appears only when it is whole");
  withTarget(command).action((ids: string[]) => exportIds(terminal, ids, { ...command.opts<Flags>(), target: targetFlags(command) }));
  withExamples(command, [
    ["orcha export --file orcha.db --agent supportAgent -o backup.jsonl", "everything"],
    ["orcha export ses_1 --format jsonl --file orcha.db --agent supportAgent", "one session's log"],
    ["orcha export --url https://orcha.example --agent supportAgent", "everything that a server has"],
    ["orcha export --file orcha.db --agent supportAgent | gzip > backup.gz", "into a pipe"],
  ]);
}

async function exportIds(terminal: Terminal, ids: readonly string[], flags: Flags): Promise<void> {
  if (flags.format !== "bundle" && ids.length !== 1) throw wrongUsage(`--format ${flags.format} is of one session: name it`);
  const signal = terminal.interrupts();
  const target = await openTarget(flags.target);
  const progress = new Progress();
  const hidden: SessionName[] = [];
  try {
    const lines = linesOf(target, ids, flags, (name) => hidden.push(name));
    if (flags.output === undefined) {
      for await (const line of lines) {
        signal.throwIfAborted();
        await terminal.write(line);
      }
    } else {
      await writeWhole(flags.output, watched(lines, (bytes) => progress.show(() => `Exporting: ${megabytes(bytes)}`)), signal);
      progress.clear();
      terminal.note(`Exported to ${flags.output}.`);
    }
    for (const note of notesOf(hidden)) terminal.note(note);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    progress.clear();
    await target.close();
  }
}

async function* linesOf(target: Target, ids: readonly string[], { format }: Flags, onHidden: (name: SessionName) => void): AsyncGenerator<string> {
  const { agent } = target;
  const [sessionId = ""] = ids;
  if (format === "messages") {
    const { writeMessages } = await import("@orcha/formats");
    yield* writeMessages(await target.call<AgentMessage[]>("messages", { sessionId }));
    return;
  }
  const { bundleFrom, logFrom } = await import("../exporting.ts");
  const { remoteSource } = await import("./remote-source.ts");
  const source = target.source ?? remoteSource(target);
  if (format === "jsonl") yield* logFrom(source, { agent, sessionId });
  else yield* bundleFrom(source, { agent, ...(ids.length === 0 ? {} : { sessionIds: ids }) }, new Date().toISOString(), onHidden);
}

/** How many sessions of one agent are named one by one. */
const maxNamed = 20;

/** What isn't in the file, an agent a line. */
function notesOf(hidden: readonly SessionName[]): string[] {
  return [...Map.groupBy(hidden, ({ agent }) => agent)].map(([agent, names]) => {
    const ids = names.slice(0, maxNamed).map(({ sessionId }) => plain(sessionId));
    const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
    const missing = `Not exported, since the server defines no agent ${plain(agent)}: ${count(names.length, "delegated session")}, ${ids.join(", ")}${more}.`;
    return `${missing} Define the agent again, or export from the store itself.`;
  });
}

async function* watched(lines: AsyncIterable<string>, written: (bytes: number) => void): AsyncGenerator<string> {
  let bytes = 0;
  for await (const line of lines) {
    bytes += line.length;
    written(bytes);
    yield line;
  }
}
