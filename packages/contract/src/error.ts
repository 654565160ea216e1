import { cutText } from "./cut-text.ts";
import { formatPath, type Path } from "./json.ts";

interface ErrorRow {
  status: number;
  retryable: boolean;
}

/** Every error a server answers: code → HTTP status, and whether the same call may succeed later. */
export const errorTable = {
  invalid_input: { status: 400, retryable: false },
  history_invalid: { status: 422, retryable: false },
  unsupported_format: { status: 415, retryable: false },
  unauthorized: { status: 401, retryable: false },
  forbidden: { status: 403, retryable: false },
  agent_not_found: { status: 404, retryable: false },
  session_not_found: { status: 404, retryable: false },
  item_not_found: { status: 404, retryable: false },
  session_exists: { status: 409, retryable: false },
  session_completed: { status: 409, retryable: false },
  aborted: { status: 409, retryable: false },
  session_busy: { status: 409, retryable: true },
  sequence_conflict: { status: 409, retryable: false },
  client_action_required: { status: 409, retryable: false },
  unknown_call_id: { status: 409, retryable: false },
  action_result_conflict: { status: 409, retryable: false },
  missing_tool_results: { status: 422, retryable: false },
  invalid_tool_result: { status: 422, retryable: false },
  idempotency_conflict: { status: 422, retryable: false },
  payload_too_large: { status: 413, retryable: false },
  rate_limited: { status: 429, retryable: true },
  provider_error: { status: 502, retryable: true },
  storage_error: { status: 503, retryable: true },
  too_busy: { status: 503, retryable: true },
  execution_failed: { status: 500, retryable: false },
} as const satisfies Record<string, ErrorRow>;

/** A code that a server answers. */
export type ErrorCode = keyof typeof errorTable;

/** What an error says beyond its code, as far as the code has more to say. */
export interface ErrorDetails {
  /** The place of the fault in the input, such as `pageSize` or `events[2].data.callId`. */
  path?: string;
  [key: string]: unknown;
}

/** An error as it travels. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  retryable: boolean;
  details?: ErrorDetails;
}

/** An expected failure with a code of `errorTable`. The client has a class of the same name and shape. */
export class OrchaError extends Error {
  override readonly name = "OrchaError";
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly details: ErrorDetails | undefined;

  /** `retryable` is the table's unless it is given: not every failure of a provider passes. */
  constructor(code: ErrorCode, message: string, options: { details?: ErrorDetails; cause?: unknown; retryable?: boolean } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? errorTable[code].retryable;
    this.details = options.details;
  }

  get status(): number {
    return errorTable[this.code].status;
  }
}

/** Builds the error for bad input at a path. A reason that quotes the input is cut at 300 characters. */
export function invalidInput(path: Path, fault: string): OrchaError {
  const at = formatPath(path);
  const reason = cutText(fault, 300);
  return new OrchaError("invalid_input", at === "" ? reason : `${at} ${reason}`, { details: { path: at } });
}
