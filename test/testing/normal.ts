/** A report of a scenario without what is each server's own: times, how long things took, and ids that it made. */
export function normal(report: unknown): unknown {
  const ids = new Map<string, string>();
  const text = JSON.stringify(report, (key, value: unknown) => (key === "durationMs" ? 0 : value))
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>")
    .replaceAll(/response_\d+/g, "<response>")
    .replaceAll(/ses_(?:[0-9A-HJKMNP-TV-Z]{26}|test_\d+)/g, (id) => {
      if (!ids.has(id)) ids.set(id, `<session ${ids.size + 1}>`);
      return ids.get(id) ?? id;
    });
  return JSON.parse(text);
}
