import { outputText } from "@orcha/contract";
import type { Stage } from "./stage.ts";

/** What a session's calls came to that its fixture didn't mean, such as arguments that the definition refuses; nothing where all is as told. */
export async function faultIn({ clientOf, player }: Pick<Stage, "clientOf" | "player">, agent: string, sessionId: string): Promise<string | undefined> {
  const client = clientOf(agent);
  for (let page = 1, hasMore = true; hasMore; page += 1) {
    const { data } = await client.events.safe(sessionId, { page, pageSize: 100 });
    hasMore = data?.hasMore ?? false;
    for (const event of data?.events ?? []) {
      if (event.type !== "message.created" || event.data.role !== "tool") continue;
      for (const block of event.data.content) {
        const call = player.find(agent, sessionId, block.callId);
        const isMeant = call === undefined || ("error" in call && call.error !== undefined) || ("outcome" in call && call.outcome !== undefined);
        if (block.isError === true && !isMeant) return `${block.name ?? "a call"}: ${outputText(block)}`;
      }
    }
  }
  return undefined;
}
