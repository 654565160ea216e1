import { useSyncExternalStore } from "react";

/** The session that is open: the address has it, so that a reload and a link lead back to it. */
export function useSelected(): string | undefined {
  const hash = useSyncExternalStore(listen, () => window.location.hash);
  return hash.length > 1 ? decoded(hash.slice(1)) : undefined;
}

/** Whoever types an address may type a lone % too: it stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Opens a session. */
export function select(sessionId: string): void {
  window.location.hash = encodeURIComponent(sessionId);
}

function listen(onChange: () => void): () => void {
  window.addEventListener("hashchange", onChange);
  return () => window.removeEventListener("hashchange", onChange);
}
