import { formatPath } from "@orcha/contract";
import * as v from "valibot";
import { issuePath } from "../intake.ts";

const filled = (message: string) => v.pipe(v.string(message), v.trim(), v.nonEmpty(message));
const named = (message: string) => v.custom<object>((value) => typeof value === "object" && value !== null && !Array.isArray(value), message);
const portRange = "must be a whole number from 0 to 65535";
const bytes = "must be a whole number of bytes";

/** What a configuration's fields must be at least; what they hold is checked by those who use it. */
const schema = v.looseObject({
  agents: named("must be what defineAgents makes"),
  implementations: v.optional(named("must be an object, with an implementation for each agent's name")),
  store: v.optional(
    v.union(
      [v.function(), v.looseObject({ file: filled("") }), v.looseObject({ database: filled(""), schema: v.optional(v.string()) })],
      "must be { file } or { database }, with a text that isn't empty, or a function that makes a store",
    ),
  ),
  tokens: v.optional(v.array(v.unknown(), "must be a list")),
  cors: v.optional(v.looseObject({ origins: v.array(v.string(), "must be a list of origins") }, "must be { origins: [\"https://…\"] }")),
  compress: v.optional(v.boolean("must be true or false")),
  maxImportBytes: v.optional(v.pipe(v.number(bytes), v.integer(bytes), v.minValue(1, bytes))),
  port: v.optional(v.pipe(v.number(portRange), v.integer(portRange), v.minValue(0, portRange), v.maxValue(65_535, portRange))),
  hostname: v.optional(filled("must be the name or the address to listen at")),
});

/** Says what is wrong with a configuration: Node strips its types, so nothing has checked them. */
export function configFault(config: object): string | undefined {
  const issue = v.safeParse(schema, config, { abortEarly: true }).issues?.[0];
  return issue && `${formatPath(issuePath(issue.path))} ${issue.message}`;
}
