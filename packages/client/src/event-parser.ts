/** One event of a stream, as it came. */
export interface RawEvent {
  name: string;
  data: string;
  id?: string;
}

/**
 * Takes a stream of events apart as it comes in, by the rules of the HTML standard
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation): any line ends, comments,
 * data of several lines. What is not closed by an empty line is no event yet.
 */
export function createEventParser(onEvent: (event: RawEvent) => void): (text: string) => void {
  let rest = "";
  let name = "";
  let data: string[] = [];
  let id: string | undefined;
  let isFirst = true;

  function take(line: string): void {
    if (line === "") {
      if (data.length > 0) onEvent({ name: name || "message", data: data.join("\n"), id });
      name = "";
      data = [];
      return;
    }
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") name = value;
    if (field === "data") data.push(value);
    if (field === "id" && !value.includes("\0")) id = value;
  }

  return (text) => {
    if (isFirst && text !== "") {
      isFirst = false;
      text = text.replace(/^\uFEFF/, "");
    }
    rest += text;
    // A CR at the very end may be half of a line end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  };
}
