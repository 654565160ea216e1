/** Sessions whose first run was sent and has not ended: the server may not know them yet. */
const opening = new Set<string>();

/** Says that a session is about to be there, until the work on it is over. */
export function markOpening(sessionId: string, work: Promise<unknown>): void {
  opening.add(sessionId);
  const forget = (): void => void opening.delete(sessionId);
  work.then(forget, forget);
}

/** Tells whether the session may be about to be there. */
export function isOpening(sessionId: string): boolean {
  return opening.has(sessionId);
}
