/** Takes texts up to the one with which they reach so many bytes, of one a character, which is what most JSON has. */
export function upTo(maxBytes = Infinity, texts: Iterable<string>): string[] {
  const taken: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    taken.push(text);
    bytes += text.length;
    if (bytes >= maxBytes) break;
  }
  return taken;
}
