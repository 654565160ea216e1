import type { SessionHistory } from "@orcha/contract";

type ReadPage = (page: number, throughSequence: number | undefined) => Promise<SessionHistory>;

/** Turns all pages of one view, newest first: each iteration pins the view that its first page was computed at. */
export function createPages(readPage: ReadPage): AsyncIterable<SessionHistory> {
  return {
    async *[Symbol.asyncIterator]() {
      let throughSequence: number | undefined;
      for (let page = 1; ; page += 1) {
        const history = await readPage(page, throughSequence);
        throughSequence ??= history.throughSequence;
        yield history;
        if (!history.hasMore) return;
      }
    },
  };
}
