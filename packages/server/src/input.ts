import { contract, type OperationName } from "@orcha/contract";
import type { GenericSchema } from "valibot";
import { schemaFault } from "./failure.ts";

type DefinitionOf<N extends OperationName> = (typeof contract)[N]["~orpc"];

/** What an operation takes, as its schema lets it out. */
type InputOf<N extends OperationName> = NonNullable<NonNullable<DefinitionOf<N>["inputSchema"]>["~standard"]["types"]>["output"];

/** The schema of what an operation takes: every operation has one. */
export function inputSchemaOf(operation: OperationName): GenericSchema {
  return contract[operation]["~orpc"].inputSchema as unknown as GenericSchema;
}

/** The schema of what an operation answers. */
export function outputSchemaOf(operation: OperationName): GenericSchema {
  return contract[operation]["~orpc"].outputSchema as unknown as GenericSchema;
}

/** The fields of an operation's input. */
export function fieldsOf(operation: OperationName): Readonly<Record<string, GenericSchema>> {
  return (inputSchemaOf(operation) as unknown as { entries: Record<string, GenericSchema> }).entries;
}

/** Checks an operation's input as oRPC would, where oRPC isn't on the way. Throws `invalid_input`. */
export async function readInput<N extends OperationName>(operation: N, input: unknown): Promise<InputOf<N>> {
  const result = await inputSchemaOf(operation)["~standard"].validate(input);
  if (result.issues) throw schemaFault(result.issues);
  return result.value as InputOf<N>;
}
