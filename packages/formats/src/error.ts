/** Why a file can't be read: the line, counted from 1, and the reason. */
export class FormatError extends Error {
  override readonly name = "FormatError";
  /** "unsupported" where the file may well be whole, but is none that this version reads. */
  readonly code: "damaged" | "unsupported";
  readonly line: number;
  readonly reason: string;

  constructor(line: number, reason: string, code: "damaged" | "unsupported" = "damaged") {
    super(`line ${line}: ${reason}`);
    this.code = code;
    this.line = line;
    this.reason = reason;
  }
}
