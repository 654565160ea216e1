import * as fc from "fast-check";
import { texts } from "../arbitraries.ts";

/** A JSON Schema, and values that are meant to fit it. */
export interface Sample {
  schema: object;
  values: unknown[];
}

/** A JSON Schema, and what makes values for it. */
interface Shape {
  schema: object;
  value: fc.Arbitrary<unknown>;
}

const oddKeys = ["__proto__", "constructor", "a-b", "", "*/", "new", "readonly", "get", "1", "\u2028", "ü", "`${x}`", '"', "\\", "default"];

function keys(): fc.Arbitrary<string> {
  // The validator takes no half of a surrogate pair as a key.
  const any = texts().map((text) => text.toWellFormed());
  return fc.oneof({ weight: 3, arbitrary: fc.constantFrom("a", "b", "c", "id") }, { weight: 2, arbitrary: fc.constantFrom(...oddKeys) }, any);
}

/** JSON as it comes out of a text. */
function json(): fc.Arbitrary<unknown> {
  return fc.jsonValue({ maxDepth: 2 }).map((value): unknown => JSON.parse(JSON.stringify(value)));
}

function of(schema: object, value: fc.Arbitrary<unknown>): fc.Arbitrary<Shape> {
  return fc.constant({ schema, value });
}

const leaf = fc.oneof(
  of({ type: "string" }, texts()),
  of({ type: "string", format: "date-time" }, texts()),
  of({ type: "number" }, fc.double({ noNaN: true, noDefaultInfinity: true })),
  of({ type: "integer", minimum: -1000 }, fc.integer({ min: -1000 })),
  of({ type: "boolean" }, fc.boolean()),
  of({ type: "null" }, fc.constant(null)),
  of({ type: ["string", "null", "integer"] }, fc.oneof(texts(), fc.constant(null), fc.integer())),
  of({}, json()),
  json().map((value) => ({ schema: { const: value }, value: fc.constant(value) })),
  fc.array(json(), { minLength: 1, maxLength: 4 }).map((values) => ({ schema: { enum: values }, value: fc.constantFrom(...values) })),
);

const notes = fc.record({ description: texts(), deprecated: fc.boolean(), default: json() }, { requiredKeys: [] });

const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof({ maxDepth: 3, depthIdentifier: "shape" }, leaf, objects(tie("shape")), records(tie("shape")), lists(tie("shape")), tuples(tie("shape")), choices(tie("shape")), both(tie("shape"))),
}));

function objects(inner: fc.Arbitrary<Shape>): fc.Arbitrary<Shape> {
  const property = fc.record({ key: keys(), inner, notes, isRequired: fc.boolean() });
  const rest = fc.constantFrom({}, { additionalProperties: false }, { additionalProperties: {} }, { additionalProperties: true });
  return fc.tuple(fc.uniqueArray(property, { selector: ({ key }) => key, maxLength: 4 }), rest).map(([properties, more]) => {
    const schema = {
      type: "object",
      properties: Object.fromEntries(properties.map(({ key, inner, notes }) => [key, { ...inner.schema, ...notes }])),
      required: properties.filter(({ isRequired }) => isRequired).map(({ key }) => key),
      ...more,
    };
    const entries = properties.map(({ key, inner, isRequired }) => entry(key, isRequired ? inner.value : fc.option(inner.value, { nil: undefined })));
    return { schema, value: fc.tuple(...entries).map(objectOf) };
  });
}

function entry(key: string, value: fc.Arbitrary<unknown>): fc.Arbitrary<[string, unknown]> {
  return value.map((value) => [key, value]);
}

function objectOf(entries: [string, unknown][]): object {
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function records(inner: fc.Arbitrary<Shape>): fc.Arbitrary<Shape> {
  return inner.map(({ schema, value }) => ({
    schema: { type: "object", additionalProperties: schema },
    value: fc.array(fc.tuple(keys(), value), { maxLength: 3 }).map(objectOf),
  }));
}

function lists(inner: fc.Arbitrary<Shape>): fc.Arbitrary<Shape> {
  return inner.map(({ schema, value }) => ({ schema: { type: "array", items: schema, minItems: 1 }, value: fc.array(value, { minLength: 1, maxLength: 3 }) }));
}

function tuples(inner: fc.Arbitrary<Shape>): fc.Arbitrary<Shape> {
  return fc.tuple(fc.array(inner, { minLength: 1, maxLength: 3 }), fc.nat(3), fc.option(inner)).map(([items, least, rest]) => {
    const minItems = Math.min(least, items.length);
    const schema = { type: "array", prefixItems: items.map((item) => item.schema), minItems, items: rest ? rest.schema : false };
    const whole = fc.tuple(...items.map((item) => item.value));
    const short = whole.chain((values) => fc.integer({ min: minItems, max: values.length }).map((length) => values.slice(0, length)));
    const long = fc.tuple(whole, fc.array(rest ? rest.value : fc.constant(null), { maxLength: rest ? 2 : 0 })).map(([values, more]) => [...values, ...more]);
    return { schema, value: fc.oneof(short, long) };
  });
}

function choices(inner: fc.Arbitrary<Shape>): fc.Arbitrary<Shape> {
  return fc.tuple(fc.constantFrom("anyOf", "oneOf"), fc.array(inner, { minLength: 1, maxLength: 3 })).map(([word, options]) => ({
    schema: { [word]: options.map(({ schema }) => schema) },
    value: fc.oneof(...options.map(({ value }) => value)),
  }));
}

/** Two objects at once, whose keys don't meet. */
function both(inner: fc.Arbitrary<Shape>): fc.Arbitrary<Shape> {
  return fc.tuple(inner, inner).map(([left, right]) => ({
    schema: {
      allOf: [
        { type: "object", properties: { left: left.schema }, required: ["left"] },
        { type: "object", properties: { right: right.schema } },
      ],
    },
    value: fc.record({ left: left.value, right: right.value }, { requiredKeys: ["left"] }),
  }));
}

/** A tree whose nodes carry the shape: a schema that refers to itself, by `#` or through its definitions. */
const trees = fc.tuple(shape, fc.boolean()).map(([inner, isWhole]): Shape => {
  const name = "Node/with ~ and %";
  const reference = { $ref: isWhole ? "#" : "#/$defs/Node~1with%20~0%20and%20%25" };
  const node = { type: "object", properties: { value: inner.schema, nodes: { type: "array", items: reference } }, required: ["value"], additionalProperties: false };
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.record({ value: inner.value, nodes: fc.oneof({ maxDepth: 2 }, fc.constant([]), fc.array(tie("tree"), { maxLength: 2 })) }, { requiredKeys: ["value"] }),
  }));
  return { schema: isWhole ? node : { ...reference, $defs: { [name]: node } }, value: tree };
});

/** Schemas of all kinds that have a type, with values for each. */
export function samples(): fc.Arbitrary<Sample> {
  return fc
    .oneof({ weight: 5, arbitrary: shape }, trees)
    .chain(({ schema, value }) => fc.array(value, { minLength: 1, maxLength: 3 }).map((values) => ({ schema, values })));
}
