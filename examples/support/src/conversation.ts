import type { Orcha } from "@orcha/client";
import type { agents } from "./agents.ts";

/** Answers what the agent asks a person; nothing leaves it open. */
export type Decide = (call: { amount: number; currency: string }) => Promise<boolean | undefined>;

type Client = Orcha<typeof agents>["supportAgent"];
type Execution = ReturnType<Client["resume"]>;

/** Talks to the agent as a customer would, shows the answers as they grow, and answers its approval. */
export async function converse(client: Client, decide: Decide, signal: AbortSignal): Promise<string> {
  const first = client.run({ content: said("Where is my order A-1042?"), name: "Order A-1042" }, { signal });
  const { sessionId } = first;
  await show(first);

  let result = await show(client.resume(sessionId, said("Yes, please refund it."), { signal }));
  while (result.status === "waiting_for_client_action") {
    const answers = [];
    for (const call of result.pendingClientActions) {
      if (call.name !== "request_human_approval") continue;
      const approved = await decide(call.arguments);
      if (approved !== undefined) answers.push({ callId: call.callId, output: { approved } });
    }
    // The run waits for as long as it takes, through restarts too.
    if (answers.length === 0) break;
    result = await show(client.resume(sessionId, { toolResults: answers }, { signal }));
  }
  return sessionId;
}

function said(text: string): string {
  console.log(`Customer   ${text}`);
  return text;
}

/** Writes the answer as it grows; each of the model's turns on a line of its own. */
async function show(execution: Execution) {
  let round: number | undefined;
  let shown = "";
  for await (const frame of execution.stream) {
    if (frame.status !== "streaming") continue;
    if (frame.round !== round) process.stdout.write(`${round === undefined ? "" : "\n"}Assistant  `);
    process.stdout.write(frame.output.slice(frame.round === round ? shown.length : 0));
    ({ round, output: shown } = frame);
  }
  if (round !== undefined) process.stdout.write("\n");
  const result = await execution.result;
  if (result.status === "failed") console.log(`Failed     ${result.error.message}`);
  return result;
}
