/** Documentation names files that exist. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const pages = ["README.md", ...readdirSync(path.join(root, "docs")).map((name) => `docs/${name}`)]
  .filter((name) => name.endsWith(".md"));

describe("documentation", () => {
  it.each(pages)("%s names files that exist", (page) => {
    const text = readFileSync(path.join(root, page), "utf8");
    const named = [...text.matchAll(/`((?:src|test|actors|machines|docs|examples)\/[\w./-]+)`/g)].map((match) =>
      match[1]!
    );
    expect(named.filter((name) => !existsSync(path.join(root, name)))).toEqual([]);
  });

  it.each(pages)("the links of %s lead to files that exist", (page) => {
    const text = readFileSync(path.join(root, page), "utf8");
    const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map((match) => match[1]!)
      .filter((link) => !/^[a-z]+:/.test(link));
    expect(links.filter((link) => !existsSync(path.join(root, path.dirname(page), link)))).toEqual([]);
  });

  it("names every folder of src", () => {
    const text = readFileSync(path.join(root, "docs/architecture.md"), "utf8");
    const folders = readdirSync(path.join(root, "src"), { withFileTypes: true }).filter((one) => one.isDirectory());
    expect(folders.map(({ name }) => `src/${name}`).filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });
});
