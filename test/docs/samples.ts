import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A TypeScript sample of a page: a whole file where its first line names one, else a snippet. With JSX it is a file. */
export interface Sample {
  page: string;
  line: number;
  file: string | undefined;
  code: string;
  /** What its `console.log`s print, as their comments say. */
  prints: string[];
}

const root = join(import.meta.dirname, "../..");

/** Every page that readers see. */
export function pages(): string[] {
  const docs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" });
  return ["README.md", ...docs.filter((name) => name.endsWith(".md")).map((name) => join("docs", name))].sort();
}

/** Reads the samples of a page, in order. */
export function samplesOf(page: string): Sample[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```(?:ts|tsx(?=\n\/\/ [\w.-]+\.tsx\n))\n([\s\S]*?)^```$/gm)].map((match) => {
    const code = match[1] ?? "";
    return {
      page,
      line: text.slice(0, match.index).split("\n").length + 1,
      file: /^\/\/ ([\w.-]+\.tsx?)\n/.exec(code)?.[1],
      code,
      prints: [...code.matchAll(/console\.log\(.*\); \/\/ (.+)$/gm)].map((comment) => comment[1] ?? ""),
    };
  });
}

/** Reads the links of a page to other files of the project. */
export function linksOf(page: string): string[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)].map((match) => match[1] ?? "");
}
