import type { Interruption } from "./loop-step.ts";

/** Tells how a run is interrupted; nothing while it isn't. */
export function interruptionOf(signal: AbortSignal): Interruption | undefined {
  if (!signal.aborted) return undefined;
  return signal.reason === "pause" || signal.reason === "lost" ? signal.reason : "stop";
}

/** What whoever stopped a run said of it, beyond that it stops. */
export function stopReasonOf(signal: AbortSignal): string | undefined {
  const reason: unknown = signal.reason;
  if (typeof reason === "string") return reason === "stop" ? undefined : reason;
  // An abort without a reason makes an AbortError, which says nothing.
  return reason instanceof Error && reason.name !== "AbortError" ? reason.message : undefined;
}
