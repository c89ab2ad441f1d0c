/**
 * The commands and programs of the documentation, run against a service, and its JSON compared with the service's
 * answers.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Arbor } from "../../support/service/arbor.ts";
import { arborCommand, shellLine } from "../../support/cli/arborCli.ts";
import { type Block, blocksOf, differences, lastJson, pages, readPage, root } from "../../support/docs/pages.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";

const RUN = ["sh", "ts"];

/** Pages with code to run. */
const withBlocks = pages.map((page) => [page, blocksOf(readPage(page))] as const)
  .filter(([, blocks]) => blocks.some(({ language, notRun }) => RUN.includes(language) && notRun === undefined));

const able = spawnSync("bash", ["-c", "command -v curl && command -v grep"]).status === 0;
if (!able) console.warn("SKIPPED: the commands of the documentation were not run, they need bash, curl and grep.");

let infra: Infra;
let arbor: Arbor;
let folder: string;
const children = new Set<ChildProcess>();

/** Ends a child with all processes that it has started. */
function end(child: ChildProcess): void {
  children.delete(child);
  try {
    process.kill(-child.pid!, "SIGKILL");
  } catch (error) {
    if ((error as { code?: string }).code !== "ESRCH") throw error;
  }
}

/**
 * `arbor`, as it is packed; `deno` and `npx -y deno@2.9.6` with it as a task, in any folder; blocks with other tasks do not run.
 */
function writePrograms(bin: string): void {
  mkdirSync(bin);
  const arbor = `#!/bin/sh\nexec ${shellLine(arborCommand())} "$@"\n`;
  const deno = `#!/bin/sh
if [ "$1" = task ]; then
  shift
  [ "$1" != --quiet ] || shift
  [ "$1" = arbor ] || { echo "the task $1 is not run by this test" >&2; exit 2; }
  shift
  exec arbor "$@"
fi
exec "${process.execPath}" "$@"
`;
  const npx = `#!/bin/sh
[ "$1 $2" = "-y deno@2.9.6" ] || { echo "npx $* is not run by this test" >&2; exit 2; }
shift 2
exec deno "$@"
`;
  for (const [name, text] of Object.entries({ arbor, deno, npx })) {
    writeFileSync(path.join(bin, name), text);
    chmodSync(path.join(bin, name), 0o755);
  }
}

/** The URLs of the documentation are those of a start without options; these replace them here. */
function here(code: string): string {
  const places: Readonly<Record<string, string>> = {
    "127.0.0.1:3000": arbor.tokens,
    "127.0.0.1:8090": arbor.wallets,
    "127.0.0.1:8091": arbor.operator,
    "127.0.0.1:8095": arbor.health,
    "127.0.0.1:10000": arbor.devnet,
    "127.0.0.1:8080": arbor.places.get("Blockfrost API of the devnet")!,
    "127.0.0.1:1337": arbor.places.get("Ogmios API of the devnet")!,
    "127.0.0.1:1442": arbor.places.get("Kupo API of the devnet")!,
    "127.0.0.1:50051": arbor.places.get("UTxO RPC of the devnet")!,
  };
  return Object.entries(places).reduce((text, [from, to]) => text.replaceAll(from, new URL(to).host), code);
}

/** Runs the blocks of a page one after the other in one shell; returns the output of each. */
async function run(page: string, blocks: readonly Block[]): Promise<string[]> {
  const home = path.join(folder, page.replace(/\W/g, "_"));
  mkdirSync(home);
  const script = blocks.map((block, i) => {
    const file = path.join(home, `block-${i}.${block.language}`);
    const code = here(block.code);
    writeFileSync(file, block.language === "ts" ? code.replaceAll('"./src/', `"${root}src/`) : code);
    return `echo ${i} > at\nexec > out-${i} 2> err-${i}\n` +
      (block.language === "ts" ? `deno run --no-check --quiet -A ${file}` : `. ${file}`);
  });
  writeFileSync(path.join(home, "page.sh"), `set -eu\n${script.join("\n")}\n`);
  const child = spawn("bash", ["page.sh"], {
    cwd: home,
    stdio: "ignore",
    detached: true,
    env: {
      ...process.env,
      PATH: `${path.join(folder, "bin")}:${process.env.PATH}`,
      CURL_HOME: folder,
      no_proxy: "127.0.0.1",
      NO_COLOR: "1",
      ARBOR_TOKENS_URL: arbor.tokens,
      ARBOR_DEVNET_URL: arbor.devnet,
      ARBOR_OPERATOR_URL: arbor.operator,
    },
  });
  children.add(child);
  const code = await new Promise((resolve) => child.once("exit", resolve));
  end(child); // a stream of which a block has read enough
  const read = (name: string) => readFileSync(path.join(home, name), "utf8");
  if (code !== 0) {
    const at = Number(read("at"));
    throw new Error(
      `${page}:${blocks[at]!.line} ended with ${code}:\n${read(`out-${at}`)}\n${read(`err-${at}`)}`,
    );
  }
  return blocks.map((_, i) => read(`out-${i}`));
}

describe.skipIf(!able)("the documentation", () => {
  beforeAll(async () => {
    // below the root, so that programs find the configuration and the packages
    mkdirSync(path.join(root, ".arbor"), { recursive: true });
    folder = mkdtempSync(path.join(root, ".arbor", "docs-"));
    writePrograms(path.join(folder, "bin"));
    writeFileSync(path.join(folder, ".curlrc"), "fail-with-body\nshow-error\nsilent\n");
    infra = await sharedInfra();
    arbor = await Arbor.start({
      infra,
      entry: "src/app/start.ts",
      env: { ARBOR_WEBHOOKS_PRIVATE: "true", ARBOR_HEALTH_PORT: "0", ARBOR_DEVNET_WITHOUT: "" },
    });
  });
  afterAll(async () => {
    for (const child of children) end(child);
    await arbor?.end();
    await infra?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("covers the pages of every service", () => {
    expect(withBlocks.map(([page]) => page)).toEqual(expect.arrayContaining(
      ["README.md", ...["tokens", "wallets", "operators", "events", "devnet"].map((name) => `docs/${name}.md`)],
    ));
  });

  it.each(withBlocks)("%s is right about the service's behaviour", async (page, blocks) => {
    const programs = blocks.filter(({ language, notRun }) => RUN.includes(language) && notRun === undefined);
    const printed = await run(page, programs);
    const wrong: string[] = [];
    for (const block of blocks) {
      if (block.language !== "json" || block.notRun !== undefined) continue;
      const answered = printed[programs.findLastIndex(({ line }) => line < block.line)];
      if (answered === undefined) {
        wrong.push(`${page}:${block.line}: no command comes before this answer`);
        continue;
      }
      const found = differences(JSON.parse(block.code), lastJson(answered), block.varies);
      wrong.push(...found.map((difference) => `${page}:${block.line}: ${difference}`));
    }
    expect(wrong).toEqual([]);
  });
});
