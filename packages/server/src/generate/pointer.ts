import { isPlainObject } from "@orcha/contract";

/** Finds what a reference within a schema points to: a JSON pointer behind `#`. Nothing where it leads nowhere, or elsewhere. */
export function resolve(root: unknown, reference: string): unknown {
  if (reference !== "#" && !reference.startsWith("#/")) return undefined;
  let found = root;
  for (const key of keysOf(reference)) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}

/** The keys that a reference goes through. */
export function keysOf(reference: string): string[] {
  return reference.split("/").slice(1).map(decode);
}

function decode(part: string): string {
  let plain = part;
  try {
    plain = decodeURIComponent(part);
  } catch {
    // A lone % stands for itself.
  }
  return plain.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Tells whether a part of a schema is another one at the same level, with no property or item between the two. */
export function reaches(root: unknown, from: string, to: string, seen: Set<string> = new Set()): boolean {
  const direct = referencesOf(resolve(root, from));
  if (direct.includes(to)) return true;
  return direct.some((next) => {
    if (seen.has(next)) return false;
    seen.add(next);
    return reaches(root, next, to, seen);
  });
}

function referencesOf(schema: unknown): string[] {
  if (!isPlainObject(schema)) return [];
  const { $ref, anyOf, oneOf, allOf } = schema;
  const own = typeof $ref === "string" ? [$ref] : [];
  return [...own, ...[anyOf, oneOf, allOf].flatMap((options) => (Array.isArray(options) ? options.flatMap(referencesOf) : []))];
}
