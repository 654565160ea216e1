import type { AnyStep } from "./step.ts";

/** What a step may do besides saying something. */
interface Interruptions {
  onCut: () => void;
  onHang: () => void;
}

/** Passes on a reply; cuts the session's streams in the midst of it, or never ends, where its step says so. */
export function replyStream<Part extends { type: string }>(parts: ReadableStream<Part>, step: AnyStep | undefined, { onCut, onHang }: Interruptions): ReadableStream<Part> {
  const reader = parts.getReader();
  const hangs = step?.text !== undefined && "hangs" in step && step.hangs === true && step.action === undefined;
  let chunks = 0;
  return new ReadableStream<Part>(
    {
      async pull(controller) {
        // The chunk before has been told by now: the next one is asked for when it is.
        if (chunks > 0 && chunks === step?.cutAfterChunks) {
          chunks = Infinity;
          await new Promise((resolve) => setTimeout(resolve, 0));
          onCut();
        }
        const { done, value } = await reader.read();
        if (done) return controller.close();
        if (value.type === "text-delta") chunks += 1;
        if (value.type === "text-end" && hangs) {
          onHang();
          await new Promise(() => {});
        }
        controller.enqueue(value);
      },
      async cancel() {
        await reader.cancel();
      },
    },
    { highWaterMark: 0 },
  );
}
