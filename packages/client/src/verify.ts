import type { AgentDefinition, HistoryItem } from "@orcha/contract";
import { formatPath } from "./json.ts";

/**
 * Holds the arguments of an item against the definition's schema; an item that fails becomes `unreadable`, with the
 * reason. Names that the definition doesn't list, and items without arguments, pass.
 */
export async function verifyArguments(item: HistoryItem, definition: AgentDefinition): Promise<HistoryItem> {
  if ((item.type !== "action" && item.type !== "client_action") || item.arguments === undefined) return item;
  const actions = item.type === "action" ? definition.actions : definition.clientActions;
  const fault = await findFault(actions?.[item.name]?.input, item.arguments);
  if (fault === undefined) return item;
  return { id: item.id, type: "unreadable", createdAt: item.createdAt, reason: `arguments of ${item.name}: ${fault}` };
}

type Schema = NonNullable<AgentDefinition["metadata"]>;

async function findFault(schema: Schema | undefined, value: unknown): Promise<string | undefined> {
  if (!schema) return undefined;
  try {
    const { issues } = await schema["~standard"].validate(value);
    const issue = issues?.[0];
    if (!issue) return undefined;
    const path = issue.path?.map((step) => (typeof step === "object" ? step.key : step));
    const at = formatPath((path ?? []).map((key) => (typeof key === "symbol" ? String(key) : key)));
    return at === "" ? issue.message : `${at}: ${issue.message}`;
  } catch (error) {
    // A schema that throws says as little about the value as one that refuses it; the page still comes.
    return error instanceof Error ? error.message : String(error);
  }
}
