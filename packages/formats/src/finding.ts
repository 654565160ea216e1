/** Something that a reader did not keep as it was, or that a person should know of. */
export interface FormatFinding {
  severity: "warning" | "info";
  code: FormatFindingCode;
  /** The line of the file, counted from 1. */
  line: number;
  message: string;
  /** What was done about it. */
  fix?: string;
}

/** Everything that a reader can find. */
export type FormatFindingCode =
  | "torn_tail_dropped"
  | "duplicate_line_dropped"
  | "timestamp_not_monotonic"
  | "content_lifted"
  | "skill_name_filled"
  | "created_fields_filled"
  | "usage_dropped"
  | "unknown_event_kept"
  | "unknown_block_kept"
  | "number_rounded";

/** How many findings of one code are kept word for word. */
const maxOfOneCode = 20;

/** Collects findings in bounded memory: the first ones of each code word for word, the others as a count. */
export class FormatFindings {
  private readonly kept: FormatFinding[] = [];
  private readonly counts = new Map<FormatFindingCode, number>();

  add(finding: FormatFinding): void {
    const count = (this.counts.get(finding.code) ?? 0) + 1;
    this.counts.set(finding.code, count);
    if (count <= maxOfOneCode) this.kept.push(finding);
  }

  /** The findings that are kept word for word, in the order of the lines. */
  list(): readonly FormatFinding[] {
    return this.kept;
  }

  /** How often each code was found, the omitted ones included. */
  totals(): ReadonlyMap<FormatFindingCode, number> {
    return this.counts;
  }
}
