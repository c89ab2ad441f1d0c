/** The site that `deno task docs:site` makes of these pages; every service serves it at `/docs/guide`. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { KINDS } from "./sidebar.ts";

const BASE = "/docs/guide/";
const docs = path.resolve(import.meta.dirname!, "..");

interface Token {
  attrGet(name: string): string | null;
}
type Rule = (tokens: Token[], at: number, options: object, env: { relativePath: string }, self: Renderer) => string;
interface Renderer {
  readonly rules: Record<string, Rule | undefined>;
  renderToken(tokens: Token[], at: number, options: object): string;
}

/** Where a link of a page leads, relative to this folder; undefined where that is in the site or on another server. */
function outsideOf(page: string, link: string): string | undefined {
  if (/^([a-z]+:|#|\/)/.test(link)) return undefined;
  const place = path.relative(docs, path.resolve(docs, path.dirname(page), link));
  return place.startsWith("..") ? place : undefined;
}

/** Renders a link to an example as one to its copy, and a link to another source or to the README as its text. */
function outsideLinks({ renderer }: { readonly renderer: Renderer }): void {
  const usual: Rule = (tokens, at, options, _, self) => self.renderToken(tokens, at, options);
  const { link_open: open = usual, link_close: close = usual } = renderer.rules;
  /** Whether the open link is plain; links do not nest. */
  let plain = false;
  renderer.rules.link_open = (tokens, at, options, env, self) => {
    const outside = outsideOf(env.relativePath, tokens[at]?.attrGet("href") ?? "");
    const example = outside !== undefined && /^\.\.\/examples\/.*\.\w+$/.test(outside);
    plain = outside !== undefined && !example;
    if (plain) return "";
    // with a target the site's router leaves the link to the browser
    return example ? `<a href="${BASE}${outside.slice(3)}" target="_self">` : open(tokens, at, options, env, self);
  };
  renderer.rules.link_close = (tokens, at, options, env, self) => plain ? "" : close(tokens, at, options, env, self);
}

/** Scripts that the generator writes into each document, by the file that holds one instead: the policy allows no inline script. */
const scripts = new Map<string, string>();

/** A document with its inline scripts as files. */
const withoutInlineScripts = (html: string) =>
  html.replace(/<script( id="[\w-]+")?>(.+?)<\/script>/gs, (_, id: string = "", script: string) => {
    const file = `assets/${createHash("sha256").update(script).digest("hex").slice(0, 16)}.js`;
    scripts.set(file, script);
    return `<script${id} src="${BASE}${file}"></script>`;
  });

interface Bundle {
  readonly [file: string]: { readonly moduleIds?: readonly string[] };
}
/** Writes the list of the modules in the site's scripts, whose licences go with it. */
const modulesOfBundle = {
  name: "modules-of-bundle",
  generateBundle(this: { emitFile(file: object): void }, _: object, bundle: Bundle): void {
    const modules = Object.values(bundle).flatMap(({ moduleIds = [] }) => moduleIds);
    this.emitFile({ type: "asset", fileName: "modules.json", source: JSON.stringify(modules) });
  },
};

export default {
  title: "Arbor",
  description: "Authenticated facts and wallets on Cardano as live actors",
  lang: "en",
  base: BASE,
  head: [["link", { rel: "icon", href: "data:," }]],
  // would add a style to the document, which the policy does not allow
  appearance: { disableTransition: false },
  rewrites: { "README.md": "index.md", "adr/README.md": "adr/index.md" },
  // a script for each document otherwise
  metaChunk: true,
  // one page after the other: the index of the search has them in the order in which they come, and is the same each time
  buildConcurrency: 1,
  // a page loads what it shows
  router: { prefetchLinks: false },
  markdown: {
    config: outsideLinks,
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  vite: { plugins: [modulesOfBundle] },
  transformHtml: withoutInlineScripts,
  buildEnd: ({ outDir }: { readonly outDir: string }) => {
    for (const [file, script] of scripts) writeFileSync(path.join(outDir, file), script);
  },
  themeConfig: {
    // a result has all words of the search
    search: { provider: "local", options: { miniSearch: { searchOptions: { combineWith: "AND" } } } },
    outline: [2, 3],
    sidebar: KINDS.map(({ name, pages }) => ({
      text: name,
      items: pages.map(([page, text]) => ({ text, link: `/${page.replace(/README$/, "")}` })),
    })),
  },
};
