import { Option, type Command } from "commander";
import { isServerMeant, withExamples } from "./flags.ts";
import type { GenerateFlags } from "./generated-file.ts";
import type { Terminal } from "./terminal.ts";

/** `orcha generate`: writes a typed client from the definitions of a server. */
export function addGenerate(program: Command, terminal: Terminal): void {
  const command = program
    .command("generate")
    .description("Writes a typed client, from the agents of a server or of orcha.config.ts")
    .requiredOption("-o, --out <path>", "the TypeScript file")
    .option("--check", "writes nothing, and fails where the file is out of date")
    .option("--base-url <url>", "the address that the client calls (default: that of the server)")
    .option("-c, --config <path>", "the configuration (default: orcha.config.ts in this folder)")
    .addOption(new Option("-u, --url <url>", "a server instead of a configuration").env("ORCHA_URL"))
    .addOption(new Option("--token <token>", "the token for that server").env("ORCHA_TOKEN"))
    .action(async () => {
      const flags = command.opts<GenerateFlags>();
      const isMeant = isServerMeant(command, flags.config !== undefined);
      const { generateFile } = await import("./generated-file.ts");
      await generateFile(terminal, isMeant ? flags : { ...flags, url: undefined });
    });
  withExamples(command, [
    ["orcha generate --out src/orcha.gen.ts", "from orcha.config.ts: no server has to run"],
    ["orcha generate --url https://orcha.example --out src/orcha.gen.ts", "from a server, whose address the client calls"],
    ["orcha generate --url https://orcha.example --out src/orcha.gen.ts --check", "in CI: fails where the agents have changed"],
  ]);
}
