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
  let skipped = /^\uFEFF/;

  function take(line: string): void {
    if (line === "") {
      if (data.length > 0) onEvent({ name: name || "message", data: data.join("\n"), id });
      name = "";
      data = [];
      return;
    }
    const [, field, value = ""] = /^([^:]*):? ?(.*)/s.exec(line) ?? [];
    if (field === "event") name = value;
    if (field === "data") data.push(value);
    if (field === "id" && !value.includes("\0")) id = value;
  }

  return (text) => {
    if (text === "") return;
    // A BOM may come first; an LF behind a CR, which ended its line at once, belongs to it.
    rest += text.replace(skipped, "");
    skipped = text.endsWith("\r") ? /^\n/ : /^$/;
    const lines = rest.split(/\r\n?|\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  };
}
