/** Makes a key that no other call has. */
export function createIdempotencyKey(): string {
  const { crypto } = globalThis as { crypto?: Partial<Crypto> };
  // Browsers offer randomUUID in secure contexts only.
  if (crypto?.randomUUID) return crypto.randomUUID();
  const bytes = new Uint8Array(16);
  if (crypto?.getRandomValues) crypto.getRandomValues(bytes);
  // React Native may have no crypto at all; a key must be unique, not secret.
  else for (let index = 0; index < bytes.length; index += 1) bytes[index] = Math.floor(Math.random() * 256);
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
