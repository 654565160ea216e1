import { isPlainObject } from "@orcha/contract";
import { keysOf, reaches, resolve } from "./pointer.ts";
import { intersection, literal, never, union, unknown, word, type Member, type Notes, type Type } from "./type.ts";

type JsonSchema = Record<string, unknown>;

/** A part of a schema that has a name, since it is referred to. */
export interface Declaration {
  name: string;
  type: Type;
  notes: Notes;
}

/** The type of what fits a JSON Schema of draft 2020-12, and of the parts that it refers to, named after the keys that lead there. */
export function typesOf(root: unknown, nameOf: (keys: readonly string[]) => string): { type: Type; declarations: Declaration[] } {
  const reader = new SchemaReader(root, nameOf);
  const type = reader.read(root);
  const declarations = [...reader.declarations()];
  // A schema that refers to itself as a whole is one of the parts, or repeats one.
  const text = JSON.stringify(type);
  const itself = declarations.find((part) => part.name === reader.names.get("#") || JSON.stringify(part.type) === text);
  return { type: itself ? word(itself.name) : type, declarations };
}

/** What a schema says about itself. */
export function notesOf(schema: unknown): Notes {
  if (!isPlainObject(schema)) return {};
  const { description, deprecated, default: defaultValue } = schema;
  return {
    ...(typeof description === "string" ? { description } : {}),
    ...(deprecated === true ? { isDeprecated: true } : {}),
    ...(defaultValue === undefined ? {} : { defaultValue: JSON.stringify(defaultValue) }),
  };
}

class SchemaReader {
  readonly names = new Map<string, string>();
  private readonly root: unknown;
  private readonly nameOf: (keys: readonly string[]) => string;

  constructor(root: unknown, nameOf: (keys: readonly string[]) => string) {
    this.root = root;
    this.nameOf = nameOf;
  }

  *declarations(): Generator<Declaration> {
    // Reading a part may add others, which a map's iteration comes to as well.
    for (const [pointer, name] of this.names) {
      const schema = resolve(this.root, pointer);
      yield { name, type: this.read(schema), notes: notesOf(schema) };
    }
  }

  /** Whatever a schema says in several ways holds at once. What it says beyond types, such as a format, is left to the server. */
  read(schema: unknown): Type {
    if (schema === false) return never;
    if (!isPlainObject(schema)) return unknown;
    const { $ref, anyOf, oneOf, allOf, not } = schema;
    return intersection([
      typeof $ref === "string" ? this.reference($ref) : unknown,
      this.own(schema),
      ...[anyOf, oneOf].map((options) => (isList(options) ? union(options.map((option) => this.read(option))) : unknown)),
      ...(isList(allOf) ? allOf.map((option) => this.read(option)) : []),
      not === true || (isPlainObject(not) && Object.keys(not).length === 0) ? never : unknown,
    ]);
  }

  private reference(pointer: string): Type {
    // What is nothing but itself in the end says nothing, and TypeScript refuses it.
    if (resolve(this.root, pointer) === undefined || reaches(this.root, pointer, pointer)) return unknown;
    const name = this.names.get(pointer) ?? this.nameOf(keysOf(pointer));
    this.names.set(pointer, name);
    return word(name);
  }

  private own(schema: JsonSchema): Type {
    if ("const" in schema) return literal(schema["const"]);
    if (isList(schema["enum"])) return union(schema["enum"].map(literal));
    const types = kindsOf(schema);
    return types === undefined ? unknown : union(types.map((type) => this.ofKind(type, schema)));
  }

  private ofKind(kind: unknown, schema: JsonSchema): Type {
    switch (kind) {
      case "string":
      case "number":
      case "boolean":
      case "null":
        return word(kind);
      case "integer":
        return word("number");
      case "array":
        return this.array(schema);
      case "object":
        return this.object(schema);
      default:
        return unknown;
    }
  }

  private array({ prefixItems, items, minItems, maxItems = Number.POSITIVE_INFINITY }: JsonSchema): Type {
    if (!isList(prefixItems)) return items === false ? { kind: "tuple", items: [], rest: undefined } : { kind: "array", item: this.read(items) };
    const least = Number(minItems ?? 0);
    // As with objects, what isn't named isn't there unless the schema says so.
    const isClosed = items === undefined || items === false || Number(maxItems) <= prefixItems.length;
    return {
      kind: "tuple",
      items: prefixItems.slice(0, Number(maxItems)).map((item, index) => ({ type: this.read(item), isOptional: index >= least })),
      rest: isClosed ? undefined : this.read(items),
    };
  }

  private object(schema: JsonSchema): Type {
    const { properties, required, additionalProperties, patternProperties, propertyNames } = schema;
    const named = isPlainObject(properties) ? Object.entries(properties) : [];
    const open: unknown[] = isPlainObject(patternProperties) ? Object.values(patternProperties) : [];
    if (additionalProperties !== undefined && additionalProperties !== false) open.push(additionalProperties);
    const rest = open.length === 0 ? undefined : union(open.map((each) => this.read(each)));
    const mandatory = isList(required) ? required.filter((key) => typeof key === "string") : [];
    const keys = keysIn(propertyNames);
    const members = new Map<string, Member>();
    for (const key of [...(keys ?? []), ...mandatory]) members.set(key, { name: key, type: rest ?? unknown, isOptional: !mandatory.includes(key) });
    for (const [key, each] of named) members.set(key, { name: key, type: this.read(each), isOptional: !mandatory.includes(key), notes: notesOf(each) });
    const isFree = members.size === 0 && properties === undefined && additionalProperties !== false;
    const record: Type[] = keys === undefined && (rest || isFree) ? [{ kind: "record", value: rest ?? unknown }] : [];
    if (members.size === 0 && record[0]) return record[0];
    // Apart from the members, since those needn't fit what all the others are.
    return intersection([{ kind: "object", members: inOrder(members, named) }, ...record]);
  }
}

/** The only names that a schema of names allows; nothing where there may be others. */
function keysIn(schema: unknown): string[] | undefined {
  if (!isPlainObject(schema)) return undefined;
  const { const: one, enum: some, anyOf } = schema;
  if (typeof one === "string") return [one];
  if (isList(some)) return some.filter((key) => typeof key === "string");
  const parts = isList(anyOf) ? anyOf.map(keysIn) : [undefined];
  return parts.includes(undefined) ? undefined : parts.flatMap((keys) => keys ?? []);
}

/** In the order of the properties, then those that are only mandatory. */
function inOrder(members: ReadonlyMap<string, Member>, named: readonly [string, unknown][]): Member[] {
  const names = new Set([...named.map(([name]) => name), ...members.keys()]);
  return [...names].flatMap((name) => members.get(name) ?? []);
}

/** The types that a schema allows; where it doesn't say, what its other words are about. */
function kindsOf(schema: JsonSchema): readonly unknown[] | undefined {
  const { type } = schema;
  if (type !== undefined) return isList(type) ? type : [type];
  if (["properties", "required", "additionalProperties", "patternProperties"].some((key) => key in schema)) return ["object"];
  return "prefixItems" in schema || "items" in schema ? ["array"] : undefined;
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > 0;
}
