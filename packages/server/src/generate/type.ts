/** A TypeScript type, before it is laid out. */
export type Type =
  | { kind: "word"; text: string }
  // A long one stands over several lines, however short it is: what is added to it then is a line of its own.
  | { kind: "object"; members: readonly Member[]; isLong?: boolean }
  | { kind: "record"; value: Type }
  | { kind: "array"; item: Type }
  | { kind: "tuple"; items: readonly TupleItem[]; rest: Type | undefined }
  | { kind: "union" | "intersection"; parts: readonly Type[] };

/** One property of an object. */
export interface Member {
  name: string;
  type: Type;
  isOptional?: boolean;
  notes?: Notes;
}

/** One place of a tuple. */
export interface TupleItem {
  type: Type;
  isOptional: boolean;
}

/** What is said about a property, in the words of its definition. */
export interface Notes {
  description?: string;
  isDeprecated?: boolean;
  /** As JSON. */
  defaultValue?: string;
}

/** A keyword, or the name of a type. */
export function word(text: string): Type {
  return { kind: "word", text };
}

export const unknown: Type = word("unknown");
export const never: Type = word("never");

/** Any of the types. */
export function union(types: readonly Type[]): Type {
  const parts = distinct(types, "union").filter((type) => !isWord(type, "never"));
  if (parts.some((type) => isWord(type, "unknown"))) return unknown;
  return single(parts, never) ?? { kind: "union", parts };
}

/** All of the types at once. */
export function intersection(types: readonly Type[]): Type {
  const parts = distinct(types, "intersection").filter((type) => !isWord(type, "unknown"));
  if (parts.some((type) => isWord(type, "never"))) return never;
  return single(parts, unknown) ?? { kind: "intersection", parts };
}

function single(parts: readonly Type[], none: Type): Type | undefined {
  if (parts.length === 0) return none;
  return parts.length === 1 ? parts[0] : undefined;
}

/** Unfolds types of the same kind, and leaves out repetitions. */
function distinct(types: readonly Type[], kind: "union" | "intersection"): Type[] {
  const unfolded = types.flatMap((type) => (type.kind === kind && "parts" in type ? type.parts : [type]));
  return [...new Map(unfolded.map((type) => [JSON.stringify(type), type])).values()];
}

function isWord(type: Type, text: string): boolean {
  return type.kind === "word" && type.text === text;
}

/** The type that has one value of JSON only. */
export function literal(value: unknown): Type {
  if (typeof value === "string") return word(quote(value));
  // JSON can hold numbers that no number is.
  if (typeof value === "number") return word(Number.isFinite(value) ? String(value) : "number");
  if (Array.isArray(value)) return { kind: "tuple", items: value.map((item) => ({ type: literal(item), isOptional: false })), rest: undefined };
  if (typeof value !== "object" || value === null) return word(String(value));
  return { kind: "object", members: Object.entries(value).map(([name, item]) => ({ name, type: literal(item) })) };
}

/** Writes a string as code, without anything in it that can't be seen. */
export function quote(text: string): string {
  return escapeInvisible(JSON.stringify(text));
}

/** Escapes what ends a line or can't be seen, or turns the direction of what follows. */
export function escapeInvisible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) =>
    Array.from({ length: found.length }, (_, index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, "0")}`).join(""),
  );
}
