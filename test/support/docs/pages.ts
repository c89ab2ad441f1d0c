/**
 * The documentation as data: its pages, their code blocks, and the comparison of a documented answer with a real one.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Every page, by its path from the root. */
export const pages: readonly string[] = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"],
  ...readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md")).map((name) => `docs/${name.replaceAll(path.sep, "/")}`).sort(),
];

export const readPage = (page: string): string => readFileSync(path.join(root, page), "utf8");

/** A fenced code block. */
export interface Block {
  readonly language: string;
  readonly code: string;
  /** Line of its first fence, from 1. */
  readonly line: number;
  /** Reason of the comment `<!-- not run: reason -->` before it. */
  readonly notRun?: string;
  /** Names of the comment `<!-- varies: name name -->` before it: members whose value differs between runs. */
  readonly varies: readonly string[];
}

/** The code blocks of a page, in order. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  let comments: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    const fence = /^```(\w*)/.exec(line);
    if (fence) {
      const end = lines.indexOf("```", at + 1);
      if (end < 0) throw new Error(`the block of line ${at + 1} has no end`);
      const comment = (name: string) =>
        comments.map((one) => new RegExp(`^<!-- ${name}: (.+) -->$`).exec(one)?.[1]).find((found) => found);
      const notRun = comment("not run");
      blocks.push({
        language: fence[1]!,
        code: lines.slice(at + 1, end).join("\n") + "\n",
        line: at + 1,
        ...(notRun === undefined ? {} : { notRun }),
        varies: comment("varies")?.split(/\s+/) ?? [],
      });
      at = end;
      comments = [];
    } else if (line.startsWith("<!--")) comments.push(line);
    else if (line.trim() !== "") comments = [];
  }
  return blocks;
}

/** Contents of the inline code of a page, without its code blocks. */
export function inlineCode(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, "");
  return [...prose.matchAll(/``(.+?)``|`([^`\n]+)`/g)].map((match) => (match[1] ?? match[2])!.trim());
}

/** Names of other programs that a page may use, by its comment `<!-- names of others: name name -->`. */
export const namesOfOthers = (text: string): string[] =>
  [...text.matchAll(/^<!-- names of others: (.+) -->$/gm)].flatMap(([, names]) => names!.split(/\s+/));

/** Anchors of a page, as GitHub derives them from headings. */
export function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading] of text.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/^#{1,6} (.+)$/gm)) {
    const plain = heading!.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "").trim().toLowerCase();
    const anchor = plain.replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    anchors.add(times === 0 ? anchor : `${anchor}-${times}`);
  }
  return anchors;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Differences between a documented JSON value and a real one. Both have the same members and types. Strings, numbers
 * and booleans are equal, except members that `varies` names, whose form is compared. In the documentation `…` ends a
 * truncated text, a last element `"…"` represents further elements and a member `"…"` further members.
 */
export function differences(documented: unknown, real: unknown, varies: readonly string[], at = "$"): string[] {
  if (isObject(documented)) {
    if (!isObject(real)) return [`${at}: an object is documented, ${JSON.stringify(real)} came`];
    const names = Object.keys(documented).filter((name) => name !== "…");
    const further = "…" in documented ? [] : Object.keys(real).filter((name) => !names.includes(name));
    return [
      ...further.map((name) => `${at}.${name} is not documented`),
      ...names.flatMap((name) =>
        !(name in real)
          ? [`${at}.${name} is documented and did not come`]
          : varies.includes(name)
          ? formDiffers(documented[name], real[name], `${at}.${name}`)
          : differences(documented[name], real[name], varies, `${at}.${name}`)
      ),
    ];
  }
  if (Array.isArray(documented)) {
    if (!Array.isArray(real)) return [`${at}: a list is documented, ${JSON.stringify(real)} came`];
    const open = documented.at(-1) === "…";
    const elements: unknown[] = open ? documented.slice(0, -1) : documented;
    if (open ? real.length < elements.length : real.length !== elements.length) {
      return [`${at}: ${elements.length}${open ? " or more" : ""} elements are documented, ${real.length} came`];
    }
    return elements.flatMap((element, i) => differences(element, real[i], varies, `${at}[${i}]`));
  }
  if (typeof documented === "string" && documented.endsWith("…") && typeof real === "string") {
    // the beginning of an identifier is an example; the beginning of a sentence is compared
    const beginning = documented.slice(0, -1);
    if (/^[\w+/=-]*$/.test(beginning) || real.startsWith(beginning)) return [];
  }
  return documented === real
    ? []
    : [`${at}: ${JSON.stringify(documented)} is documented, ${JSON.stringify(real)} came`];
}

/**
 * Differences between the forms of two values whose contents vary. A list may have any length, and null matches a
 * missing value.
 */
function formDiffers(documented: unknown, real: unknown, at: string): string[] {
  if (documented === null || real === null || (Array.isArray(documented) && Array.isArray(real))) return [];
  if (isObject(documented) && isObject(real)) {
    return differences(documented, real, [...Object.keys(documented), ...Object.keys(real)], at);
  }
  return typeof documented === typeof real && Array.isArray(documented) === Array.isArray(real)
    ? []
    : [`${at}: ${JSON.stringify(documented)} is documented, ${JSON.stringify(real)} came`];
}

/** The last JSON value that a command printed: all of its output, or its last lines. */
export function lastJson(output: string): unknown {
  const lines = output.trimEnd().split("\n");
  for (let from = lines.length - 1; from >= 0; from--) {
    if (!/^\s*[[{]/.test(lines[from]!)) continue;
    try {
      return JSON.parse(lines.slice(from).join("\n"));
    } catch {
      // it begins on an earlier line
    }
  }
  throw new Error(`no JSON was printed:\n${output}`);
}
