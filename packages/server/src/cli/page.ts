import type { Command } from "commander";
import { wholeNumber } from "./flags.ts";

/** The flags of a command that shows a page. */
export interface PageFlags {
  page: number;
  pageSize: number;
}

export function withPage(command: Command): Command {
  return command
    .option("-p, --page <number>", "1 is the newest", wholeNumber(1, Number.MAX_SAFE_INTEGER), 1)
    .option("-n, --page-size <number>", "how many on a page", wholeNumber(1, 100), 50);
}

/** Says where a page stands, and how to see the older one. */
export function footer({ page, total, hasMore, noun }: { page: number; total: number; hasMore: boolean; noun: string }): string {
  return `Page ${page}, ${total} ${noun} in all${hasMore ? `; older ones: --page ${page + 1}` : ""}\n`;
}
