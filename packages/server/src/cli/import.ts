import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { addAbortSignal, type Readable } from "node:stream";
import { Option, type Command } from "commander";
import type { FileFormat } from "@orcha/formats";
import type { ImportReport } from "../importing.ts";
import { targetFlags, withExamples, withJson, withTarget } from "./flags.ts";
import { openImporter } from "./importer.ts";
import { count, megabytes, Progress } from "./progress.ts";
import type { TargetFlags } from "./target.ts";
import type { Terminal } from "./terminal.ts";
import { plain } from "./text.ts";

interface Flags {
  target: TargetFlags;
  id?: string;
  newIds?: boolean;
  format?: FileFormat;
  json?: boolean;
}

/** `orcha import`: takes a file over, whole or not at all. */
export function addImport(program: Command, terminal: Terminal): void {
  const command = program
    .command("import")
    .argument("<file>", "a session log, a bundle of orcha export, or a JSON list of messages; - reads from a pipe")
    .description("Imports a file of sessions, whole or not at all")
    .option("--id <id>", "the session's id, instead of the file's")
    .option("--new-ids", "gives a session a new id where its own is taken")
    .addOption(new Option("--format <format>", "what the file is, if it isn't to be found out").choices(["session-log", "bundle", "messages"]));
  withJson(withTarget(command)).action((file: string) => importFile(terminal, file, { ...command.opts<Flags>(), target: targetFlags(command) }));
  withExamples(command, [
    ["orcha import ses_1.jsonl --file orcha.db", "a log of OrchaJS, or of orcha export --format jsonl"],
    ["orcha import backup.jsonl --new-ids --file orcha.db", "a bundle, beside what is there"],
    ["orcha import chat.json --agent supportAgent --file orcha.db", "a list of messages"],
    ["orcha import backup.jsonl --url https://orcha.example", "into a server, with a token for admins"],
    ["gunzip -c backup.jsonl.gz | orcha import - --file orcha.db", "from a pipe"],
  ]);
}

async function importFile(terminal: Terminal, file: string, flags: Flags): Promise<void> {
  const signal = terminal.interrupts();
  // Before the store is opened, or even made: the file must be there.
  const size = file === "-" ? undefined : (await stat(file)).size;
  const importer = await openImporter(flags.target);
  const progress = new Progress();
  try {
    const input = addAbortSignal(signal, file === "-" ? process.stdin : createReadStream(file, { highWaterMark: 262_144 }));
    let bytes = 0;
    // A server doesn't say how many before the end.
    let events = "";
    const { id: sessionId, newIds, format } = flags;
    const { agent } = flags.target;
    const report = await importer.take(
      watched(input, (length) => {
        bytes += length;
        const share = size === undefined || size === 0 ? "" : ` of ${megabytes(size)}, ${Math.floor((bytes / size) * 100)} %`;
        progress.show(() => `Importing: ${megabytes(bytes)}${share}${events}`);
      }),
      {
        ...(agent === undefined ? {} : { agent }),
        ...(sessionId === undefined ? {} : { sessionId }),
        ...(newIds === undefined ? {} : { newIds }),
        ...(format === undefined ? {} : { format }),
        signal,
        onProgress: (done) => {
          events = `, ${count(done.events, "event")}`;
        },
      },
    );
    progress.clear();
    await terminal.write(flags.json === true ? `${JSON.stringify(report)}\n` : textOf(report));
  } catch (error) {
    // A stream that was interrupted says so in its own way.
    throw signal.aborted ? signal.reason : error;
  } finally {
    progress.clear();
    await importer.close();
  }
}

async function* watched(input: Readable, read: (length: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of input as AsyncIterable<Uint8Array>) {
    read(chunk.length);
    yield chunk;
  }
}

/** How many sessions, and findings of one code, are named one by one. */
const maxNamed = 20;

function textOf({ sessions, events, findings, totals }: ImportReport): string {
  const lines = sessions.slice(0, maxNamed).map(({ agent, sessionId, events: own, formerId }) => {
    const former = formerId === undefined ? "" : `, ${plain(formerId)} in the file`;
    return `  ${sessionId}  ${agent}, ${count(own, "event")}${former}`;
  });
  if (sessions.length > maxNamed) lines.push(`  … and ${sessions.length - maxNamed} more`);
  const shown: Record<string, number> = {};
  const found = findings.map((finding) => {
    shown[finding.code] = (shown[finding.code] ?? 0) + 1;
    const at = "line" in finding ? `line ${finding.line}` : finding.path;
    return `  ${at}: ${plain(finding.message)}${finding.fix === undefined ? "" : `; ${plain(finding.fix)}`}`;
  });
  for (const [code, total] of Object.entries(totals)) {
    const more = total - (shown[code] ?? 0);
    if (more > 0) found.push(`  … and ${more.toLocaleString("en-US")} more of ${code}`);
  }
  const heading = `Imported ${count(sessions.length, "session")}, ${count(events, "event")}.`;
  return `${[heading, ...lines, ...(found.length === 0 ? [] : ["What is not as it was:", ...found])].join("\n")}\n`;
}
