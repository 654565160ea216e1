import { faultOf, type SkillTool } from "@orcha/agent/loop";
import type { SkillText } from "./implementation.ts";

/** The skills of a session: what is loaded stays in the system prompt for the session's life. */
export class Skills {
  private readonly known: Readonly<Record<string, SkillText>>;
  private readonly loaded: Set<string>;
  private readonly read = new Map<string, string>();
  private readonly faults = new Map<string, string>();

  constructor(known: Readonly<Record<string, SkillText>>, loaded: ReadonlySet<string>) {
    this.known = known;
    this.loaded = new Set([...loaded].filter((name) => Object.hasOwn(known, name)));
  }

  names(): string[] {
    return Object.keys(this.known);
  }

  /** Reads the texts of what earlier runs loaded, as they are today. What can't be read is told where it is wanted. */
  async ready(): Promise<void> {
    for (const name of this.loaded) {
      try {
        await this.readText(name);
      } catch (error) {
        this.faults.set(name, faultOf(error, "its text could not be read"));
      }
    }
  }

  /** What is loaded, as instructions. Throws where one of them can't be read: a run without it would be another one. */
  texts(): string[] {
    for (const [name, fault] of this.faults) throw new Error(`the skill ${JSON.stringify(name)} can't be read: ${fault}`);
    return [...this.loaded].map((name) => `Skill ${name}:\n${this.read.get(name) ?? ""}`);
  }

  /** Loads a skill; nothing where there is none of that name. */
  async load(name: string): Promise<{ alreadyLoaded: boolean } | undefined> {
    if (!Object.hasOwn(this.known, name)) return undefined;
    const alreadyLoaded = this.loaded.has(name);
    await this.readText(name);
    this.loaded.add(name);
    return { alreadyLoaded };
  }

  private async readText(name: string): Promise<void> {
    const text = this.known[name];
    this.read.set(name, typeof text === "function" ? await text() : (text ?? ""));
  }
}

/** The tool by which a model loads skills; none where there is nothing to load. */
export function skillTool(skills: Skills): SkillTool[] {
  const names = skills.names();
  if (names.length === 0) return [];
  return [
    {
      kind: "skill",
      name: "load_skill",
      description: "Loads a skill's instructions into this conversation",
      inputSchema: {
        type: "object",
        properties: { name: { type: "string", enum: names } },
        required: ["name"],
        additionalProperties: false,
      },
      load: (name) => skills.load(name),
    },
  ];
}
