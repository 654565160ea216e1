const blank = /[ \t\n\r]*/y;
const escaped = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
const literal = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

const quotationMark = 0x22;
const backslash = 0x5c;
const firstPrintable = 0x20;

/**
 * Finds the first token that keeps a text from being JSON, and the end of the text where only more of it is missing.
 * Engines name the place for some faults only, or for none.
 */
export function findSyntaxFault(text: string): number | undefined {
  const closers: string[] = [];
  let wanted: "value" | "first value" | "key" | "first key" | "colon" | "end" = "value";
  for (let at = endOf(blank, text, 0); at < text.length; at = endOf(blank, text, at)) {
    const token = text.charAt(at);
    const isKey: boolean = wanted === "key" || wanted === "first key";
    const mayClose = wanted === "first value" || wanted === "first key" || wanted === "end";
    if (mayClose && token === closers.at(-1)) {
      closers.pop();
      wanted = "end";
      at += 1;
    } else if (wanted === "end" || wanted === "colon") {
      const isColon: boolean = wanted === "colon";
      if (token !== (isColon ? ":" : ",") || closers.length === 0) return at;
      wanted = isColon || closers.at(-1) === "]" ? "value" : "key";
      at += 1;
    } else if (token === '"') {
      const end = endOfString(text, at);
      if (text.charAt(end) !== '"') return end;
      wanted = isKey ? "colon" : "end";
      at = end + 1;
    } else if (isKey) {
      return at;
    } else if (token === "{" || token === "[") {
      closers.push(token === "{" ? "}" : "]");
      wanted = token === "{" ? "first key" : "first value";
      at += 1;
    } else {
      const end = endOf(literal, text, at);
      if (end === at) return at;
      wanted = "end";
      at = end;
    }
  }
  return wanted === "end" && closers.length === 0 ? undefined : text.length;
}

/** Tells the parts of a JSON text that are in no string, one after the other. */
export function* outsideStrings(json: string): Generator<string> {
  let at = 0;
  for (let quote = json.indexOf('"'); quote !== -1; quote = json.indexOf('"', at)) {
    yield json.slice(at, quote);
    at = endOfString(json, quote) + 1;
  }
  yield json.slice(at);
}

/**
 * Where the string that starts at a quote has its other one, or the first character that no string may hold. No pattern
 * does this: one that goes round for each character overflows the stack on a text of megabytes.
 */
function endOfString(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quotationMark || code < firstPrintable) return at;
    if (code !== backslash) continue;
    const end = endOf(escaped, text, at);
    if (end === at) return at;
    at = end - 1;
  }
  return text.length;
}

/** Where a match that starts at a place has ended; the place itself where there is none. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}
