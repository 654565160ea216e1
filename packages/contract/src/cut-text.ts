/**
 * The text as far as it has room, with an ellipsis in place of the rest; no character is cut in two. Phones may lack
 * `String.prototype.toWellFormed`.
 */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
