import { cutText } from "@orcha/contract";

/** The longest text of a fault, in characters: what is thrown may hold a whole page, and the log keeps it for good. */
const longest = 4000;

/** What an error says to the model and to the log; `otherwise` where it says nothing. Never throws. */
export function faultOf(error: unknown, otherwise: string): string {
  const message = messageOf(error);
  return typeof message === "string" && message.trim() !== "" ? cutText(message, longest) : otherwise;
}

/** Not every error is an `Error` of this realm. A message may be made when it is asked for, and that may fail. */
function messageOf(error: unknown): unknown {
  try {
    return typeof error === "object" && error !== null && "message" in error ? error.message : error;
  } catch {
    return undefined;
  }
}
