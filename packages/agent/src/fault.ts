/** The longest text of a fault, in characters: what is thrown may hold a whole page, and the log keeps it for good. */
const longest = 4000;

/** What an error says to the model and to the log; `otherwise` where it says nothing. Never throws. */
export function faultOf(error: unknown, otherwise: string): string {
  const message = messageOf(error);
  return typeof message === "string" && message.trim() !== "" ? cutText(message, longest) : otherwise;
}

/** The text as far as it has room, with an ellipsis in place of the rest; no character is cut in two. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 1);
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}

/** A message may be made when it is asked for, and that may fail. */
function messageOf(error: unknown): unknown {
  try {
    return error instanceof Error ? error.message : error;
  } catch {
    return undefined;
  }
}
