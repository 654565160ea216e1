/**
 * A tag as it left, without what compressing makes of it on the way: a proxy weakens it, or names its coding at the end.
 * A session's sequence says the same in each of these forms.
 */
export function tagAsSent(tag: string): string {
  return tag
    .trim()
    .replace(/^W\/(?=")/, "")
    .replace(/-(?:gzip|br|zstd|deflate)("?)$/, "$1");
}
