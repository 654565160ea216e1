import { quote, type Member, type Notes, type Type } from "./type.ts";

const indent = "  ";
const widest = 110;

/** Lays a type out: on one line where it fits and has nothing to say, else over several. `before` is what stands left of it. */
export function layOut(type: Type, depth = 0, before = 0): string {
  const line = lineOf(type);
  if (line !== undefined && depth * indent.length + before + line.length <= widest) return line;
  switch (type.kind) {
    case "object":
      return block(type.members, depth);
    case "record":
      return `{\n${pad(depth + 1)}${behind("[key: string]: ", type.value, depth + 1)};\n${pad(depth)}}`;
    case "array":
      return `${atom(type.item, layOut(type.item, depth, before))}[]`;
    case "tuple":
      return `[\n${placesOf(type, (item) => layOut(item, depth + 1))
        .map((place) => `${pad(depth + 1)}${place},\n`)
        .join("")}${pad(depth)}]`;
    case "union":
      return type.parts.map((part) => `\n${pad(depth + 1)}| ${layOut(part, depth + 1, 2)}`).join("");
    case "intersection":
      return type.parts.map((part) => atom(part, layOut(part, depth))).join(" & ");
    default:
      return type.text;
  }
}

/** Lays out an object's members, each with what is said about it. */
export function block(members: readonly Member[], depth: number): string {
  const lines = members.map(
    (member) => `${comment(member.notes, depth + 1)}${pad(depth + 1)}${behind(startOf(member), member.type, depth + 1)};\n`,
  );
  return lines.length === 0 ? "{}" : `{\n${lines.join("")}${pad(depth)}}`;
}

/** Lays a type out behind what begins its line; a union of several lines has none of its parts there. */
export function behind(start: string, type: Type, depth: number): string {
  const text = layOut(type, depth, start.length);
  return (text.startsWith("\n") ? start.trimEnd() : start) + text;
}

/** A comment in front of something, on lines of its own; nothing where there is nothing to say. */
export function comment(notes: Notes | undefined, depth = 0): string {
  const lines = linesOf(notes ?? {});
  const [only, ...more] = lines;
  if (only === undefined) return "";
  if (more.length === 0) return `${pad(depth)}/** ${only} */\n`;
  return `${pad(depth)}/**\n${lines.map((line) => `${pad(depth)} * ${line}`.trimEnd()).join("\n")}\n${pad(depth)} */\n`;
}

function linesOf({ description = "", isDeprecated = false, defaultValue }: Notes): string[] {
  const lines = description.trim() === "" ? [] : description.trim().split(/\r\n|[\n\r\u2028\u2029]/u);
  // A line of a definition is no tag of the comment, and doesn't end it.
  const words = lines.map((line) => visible(line.trimEnd()).replace(/^(\s*)@/, String.raw`$1\@`));
  if (isDeprecated) words.push("@deprecated");
  if (defaultValue !== undefined) words.push(`@defaultValue ${visible(defaultValue)}`);
  return words;
}

function visible(text: string): string {
  return text
    .toWellFormed()
    .replaceAll("\t", " ")
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd")
    .replaceAll("*/", String.raw`*\/`);
}

/** A type on one line, unless a part of it has something to say. */
function lineOf(type: Type): string | undefined {
  switch (type.kind) {
    case "object": {
      const lines = type.members.map((member) => {
        const line = comment(member.notes) === "" ? lineOf(member.type) : undefined;
        return line === undefined ? undefined : startOf(member) + line;
      });
      if (lines.length === 0) return "{}";
      return type.isLong === true || lines.includes(undefined) ? undefined : `{ ${lines.join("; ")} }`;
    }
    case "record": {
      const line = lineOf(type.value);
      return line === undefined ? undefined : `{ [key: string]: ${line} }`;
    }
    case "array": {
      const line = lineOf(type.item);
      return line === undefined ? undefined : `${atom(type.item, line)}[]`;
    }
    case "tuple": {
      const lines = [...type.items.map((item) => item.type), ...(type.rest ? [type.rest] : [])].map(lineOf);
      return lines.includes(undefined) ? undefined : `[${placesOf(type, (item) => lineOf(item) ?? "").join(", ")}]`;
    }
    case "union":
    case "intersection": {
      const lines = type.parts.map((part) => {
        const line = lineOf(part);
        return line === undefined || type.kind === "union" ? line : atom(part, line);
      });
      return lines.includes(undefined) ? undefined : lines.join(type.kind === "union" ? " | " : " & ");
    }
    default:
      return type.text;
  }
}

function placesOf({ items, rest }: Extract<Type, { kind: "tuple" }>, write: (type: Type) => string): string[] {
  const places = items.map(({ type, isOptional }) => (isOptional ? `${atom(type, write(type))}?` : write(type)));
  return rest ? [...places, `...${atom(rest, write(rest))}[]`] : places;
}

/** A type that something may follow or precede. */
function atom(type: Type, text: string): string {
  return type.kind === "union" || type.kind === "intersection" ? `(${text})` : text;
}

function startOf({ name, isOptional = false }: Member): string {
  return `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name)}${isOptional ? "?" : ""}: `;
}

function pad(depth: number): string {
  return indent.repeat(depth);
}
