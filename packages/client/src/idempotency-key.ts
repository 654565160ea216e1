/** Makes a key that no other call has. */
export function createIdempotencyKey(): string {
  // React Native may have no crypto at all; a key must be unique, not secret.
  const bytes = new Uint8Array(16).map(() => Math.random() * 256);
  // Not randomUUID, which browsers offer in secure contexts only.
  (globalThis as { crypto?: Partial<Crypto> }).crypto?.getRandomValues?.(bytes);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
