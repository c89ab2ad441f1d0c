/**
 * The npm packages: packed, installed offline into an empty folder, compiled against by a strict consumer, and run on
 * Node, on Deno and in a browser.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { transform } from "esbuild";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VERSION } from "#src/base/version.ts";
import { pack } from "#src/packages/pack.ts";
import type { Packed } from "#src/packages/packFolder.ts";
import { sharedBrowser } from "../../support/pages/sharedBrowser.ts";
import { runCli } from "../../support/cli/arborCli.ts";

const hasNode = spawnSync("node", ["--version"]).status === 0 && spawnSync("npm", ["--version"]).status === 0;
if (!hasNode) console.warn("SKIPPED: the packages were not installed, it needs node and npm.");
const browser = await sharedBrowser();

/** The packages without the server. */
const NAMES = ["client", "forestry", "cli"];

/** A program that uses a part of each entry; it prints a line of JSON. */
const CONSUMER = `
import { ApiError, DevnetClient, enterpriseAddress, addressText, factSegment, fromHex, lovelace, OperatorClient, parseJson,
  publicKey, requireIntent, signUnchecked, toHex, TokenClient, toJson, transactionHash, utf8, verifyFact, verifyFactSet, WalletClient,
  type Token, type TokenEvent, type TransitionEvent, type Wallet } from "@arbor-cardano/client";
import { accountKey, derivePath, keyHash, mnemonicEntropy, newMnemonic, rootKey, toPublic } from "@arbor-cardano/client/keys";
import { verifyTokenList } from "@arbor-cardano/client/ledger";
import { verifyOffline } from "@arbor-cardano/client/offline";
import { verifyV2Tokens } from "@arbor-cardano/client/mpfs-v2";
import { FactReplica, readFactText } from "@arbor-cardano/client/replicas";
import { digest, Forestry, includes, initHash, LeafSet, leafOf } from "@arbor-cardano/forestry";

export async function main(service: string) {
  const words = newMnemonic(15);
  const entropy = mnemonicEntropy(words);
  if (!entropy.ok) throw new Error(entropy.error.message);
  const key = derivePath(accountKey(rootKey(entropy.value)), [0, 0]);
  const address = addressText(enterpriseAddress(0, { kind: "key", hash: keyHash(toPublic(key).key) }));

  await initHash();
  const trie = Forestry.from([leafOf(utf8("name"), utf8("Ada"))]);
  const proof = trie.prove(digest(utf8("name")));
  if (!proof.ok) throw new Error(proof.error.message);

  const signed = signUnchecked("84a3008001800200a0f5f6", key.key);
  const tokens = new TokenClient(service);
  const list = await tokens.tokens();
  const state: string = list.tokens[0]!.root;
  const code = async (work: () => Promise<unknown>) => {
    try {
      await work();
      return "none";
    } catch (error) {
      return error instanceof ApiError ? error.code : "another error";
    }
  };
  const checked = verifyFact({}, { tokenId: "ab".repeat(32), key: "k", trusted: { root: state } });
  const offline = verifyOffline({}, "quorum none");
  const ledger = verifyTokenList({}, { trusted: { utxoRoot: "ab".repeat(32), point: { slot: 1, hash: "ab".repeat(32) } } });
  const point = { slot: 1, hash: "ab".repeat(32) };
  const v2 = verifyV2Tokens({}, { policyId: "ab".repeat(28), trusted: { utxoRoot: "ab".repeat(32), point } });
  const set = new LeafSet();
  set.add(leafOf(utf8("name"), utf8("Ada")));
  const root = set.root();
  if (!root.ok) throw new Error(root.error.message);
  const trusted = { root: toHex(root.value) };
  const complete = await verifyFactSet([{ name: "Ada" }], { tokenId: "ab".repeat(32), trusted });
  return {
    address: address.slice(0, 11),
    included: includes(trie.root, digest(utf8("name")), digest(utf8("Ada")), proof.value),
    signed: signed.length,
    hash: transactionHash(signed) === transactionHash("84a3008001800200a0f5f6"),
    publicKey: toHex(publicKey(fromHex("00".repeat(32)))),
    state,
    exact: toJson(parseJson("12345678901234567890")),
    checked: checked.ok ? "ok" : checked.error.code,
    complete: complete.ok ? complete.value.facts : complete.error.code,
    segment: factSegment("a/b").segment,
    unknown: await code(() => tokens.token("00".repeat(32))),
    reference: await code(() => readFactText(service, { href: "/missing", digest: "00".repeat(32), size: 1 }, "value")),
    ledger: ledger.ok ? "ok" : ledger.error.code,
    offline: offline.ok ? "ok" : offline.error.code,
    v2: v2.ok ? "ok" : v2.error.code,
    replica: new FactReplica().tokens().length,
    lovelace: toJson(lovelace(5n)),
    others: [typeof OperatorClient, typeof DevnetClient, typeof WalletClient, typeof requireIntent].join(),
  };
}

/** Types of answers and events are precise. */
export function types(token: Token, event: TokenEvent, wallet: Wallet, transition: TransitionEvent): string {
  const request = token.requests[0];
  const open: "insert" | "update" | "delete" | undefined = request?.change.type;
  // @ts-expect-error a status is one of two words
  const wrong: "closed" = token.status;
  const total: number | bigint = wallet.balance.total.quantity;
  const version: number = transition.data.version;
  return [open, wrong, total, version, event.type].join();
}
`;

const EXPECTED = {
  address: "addr_test1v",
  included: true,
  signed: 22 + 212,
  hash: true,
  publicKey: "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29",
  state: "77".repeat(32),
  exact: "12345678901234567890",
  checked: "other_question",
  complete: 1,
  segment: "612f62",
  unknown: "token_unknown",
  reference: "token_unknown",
  ledger: "malformed",
  offline: "malformed",
  v2: "malformed",
  replica: 0,
  lovelace: '{"quantity":5,"unit":"lovelace"}',
  others: "function,function,function,function",
};

/** A program that uses Blaze on an instance; it prints a line of JSON. */
const BLAZE_CONSUMER = `
import { ApiError } from "@arbor-cardano/client";
import { ArborProvider, ArborWallet, signChecked, type Signable } from "@arbor-cardano/client/blaze";
import { Blaze, Core, HotSingleWallet, Provider, type Wallet } from "@blaze-cardano/sdk";

export async function main(service: string) {
  const provider: Provider = await ArborProvider.connect(service);
  const key = Core.Ed25519PrivateNormalKeyHex("01".repeat(32));
  const wallet: Wallet = new HotSingleWallet(key, provider.network, provider);
  const blaze = await Blaze.from(provider, wallet);
  const refused = await wallet.getUnspentOutputs().catch((error: unknown) => error);
  const own: Wallet = new ArborWallet({ wallets: service + "/v2", id: "00", passphrase: () => "", provider });
  const transaction: Signable<string> = {
    cbor: "84a3008001800200a0f5f6",
    hash: "00".repeat(32),
    withWitnessSet: (set) => set,
  };
  return {
    network: [provider.network, provider.networkName],
    slot: provider.unixToSlot(1_500),
    fee: blaze.params.minFeeConstant,
    refused: refused instanceof ApiError ? refused.code : "another error",
    own: await own.getNetworkId(),
    other: await signChecked(transaction, wallet).catch((error: unknown) => error instanceof TypeError),
  };
}
`;

const BLAZE_EXPECTED = {
  network: [0, "cardano-preprod"],
  slot: 1,
  fee: 155_381,
  refused: "token_unknown",
  own: 0,
  other: true,
};

const ratio = { numerator: 1, denominator: 2 };
const units = { memory: 1, steps: 1 };
const PARAMETERS = {
  network: { id: 0, magic: 1 },
  slots: { zeroSlot: 0, zeroTime: 0, slotLength: 1_000, slotsAhead: 0 },
  at: { slot: 0, hash: "" },
  parameters: {
    feeFixed: 155_381,
    pledgeInfluence: ratio,
    monetaryExpansion: ratio,
    treasuryGrowth: ratio,
    prices: { memory: ratio, steps: ratio },
    maxTxUnits: units,
    maxBlockUnits: units,
    refScriptCostPerByte: ratio,
    costModels: [],
  },
};

/** A service with one token, and parameters; its other answers are refusals. */
const server = createServer((request, response) => {
  const cors = { "access-control-allow-origin": "*", "content-type": "application/json" };
  if (request.url === "/tokens") {
    response.writeHead(200, cors).end(JSON.stringify({ tokens: [{ root: EXPECTED.state }] }));
  } else if (request.url === "/chain/parameters") response.writeHead(200, cors).end(JSON.stringify(PARAMETERS));
  else response.writeHead(404, cors).end(JSON.stringify({ code: "token_unknown", error: "unknown" }));
});

let dist: string;
let home: string;
let packed: Packed[];
let service: string;

beforeAll(async () => {
  dist = mkdtempSync(path.join(tmpdir(), "arbor-dist-"));
  home = mkdtempSync(path.join(tmpdir(), "arbor-consumer-"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  service = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  if (!hasNode) return;
  packed = await pack(dist, NAMES);
  writeFileSync(path.join(home, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  const install = ["install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts"];
  execFileSync("npm", [...install, ...packed.map(({ tarball }) => tarball)], { cwd: home, stdio: "pipe" });
  for (const [name, text] of [["consumer", CONSUMER], ["blazeConsumer", BLAZE_CONSUMER]] as const) {
    writeFileSync(path.join(home, `${name}.ts`), text);
    writeFileSync(
      path.join(home, `${name}.js`),
      ts.transpile(text, { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext }),
    );
    writeFileSync(
      path.join(home, `${name}.run.mjs`),
      `import { main } from "./${name}.js";\nconsole.log(JSON.stringify(await main(process.argv[2])));\n`,
    );
  }
  // as npm would install it beside the client, without fetching it again
  mkdirSync(path.join(home, "node_modules", "@blaze-cardano"));
  symlinkSync(
    realpathSync(new URL("../../../node_modules/@blaze-cardano/sdk", import.meta.url)),
    path.join(home, "node_modules", "@blaze-cardano", "sdk"),
  );
}, 1_800_000);

afterAll(async () => {
  await browser?.close();
  await new Promise((resolve) => server.close(resolve));
  for (const folder of [dist, home]) rmSync(folder, { recursive: true, force: true });
});

const installed = (name: string, ...file: string[]) => path.join(home, "node_modules", "@arbor-cardano", name, ...file);

describe.skipIf(!hasNode)("the packages", () => {
  it("have a licence, a README, the version of this checkout, and nothing of the server", () => {
    expect(packed.map(({ name }) => name)).toEqual(
      NAMES.map((name) => `@arbor-cardano/${name}`),
    );
    for (const name of NAMES) {
      expect(readdirSync(installed(name))).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]));
      const manifest = JSON.parse(readFileSync(installed(name, "package.json"), "utf8"));
      expect(manifest).toMatchObject({ version: VERSION, license: "Apache-2.0", type: "module" });
      expect(manifest).not.toHaveProperty("dependencies");
    }
    for (const name of ["client", "forestry"]) {
      const files = readdirSync(installed(name, "dist")).filter((file) => file.endsWith(".js"));
      for (const file of files) {
        const code = readFileSync(installed(name, "dist", file), "utf8");
        // a bundle's imports are those of its own files, and of the one peer
        const imports = [...code.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]*)"/g)].map(([, from]) => from!);
        const others = new Set(imports.filter((from) => !from.startsWith("./")));
        expect([...others], file).toEqual(file === "blaze.js" ? ["@blaze-cardano/sdk"] : []);
        expect(code.match(/create table|JetStream/g)).toBeNull();
      }
    }
    const { peerDependencies, peerDependenciesMeta } = JSON.parse(
      readFileSync(installed("client", "package.json"), "utf8"),
    );
    expect(peerDependencies).toEqual({ "@blaze-cardano/sdk": expect.stringMatching(/^\^0\.2\.\d+$/) });
    expect(peerDependenciesMeta).toEqual({ "@blaze-cardano/sdk": { optional: true } });
    expect(JSON.parse(readFileSync(installed("client", "package.json"), "utf8")).sideEffects).toBe(false);
  });

  it("a browser loads the client in at most 60 kB after gzip", async () => {
    // a bundler minifies what the package has readable
    const { code } = await transform(readFileSync(installed("client", "dist", "index.js"), "utf8"), { minify: true });
    const bytes = gzipSync(code, { level: 9 }).length;
    console.warn(`@arbor-cardano/client: ${(bytes / 1000).toFixed(1)} kB after gzip`);
    expect(bytes).toBeLessThan(60_000);
  });

  const { Bundler, NodeNext } = ts.ModuleResolutionKind;
  it.each([
    ["without types of others", Bundler, "consumer.ts", false],
    ["without types of others", NodeNext, "consumer.ts", false],
    ["beside Blaze", NodeNext, "blazeConsumer.ts", true],
  ])(
    "compile in a strict consumer %s (resolution %s)",
    (_beside, moduleResolution, file, skipLibCheck) => {
      const program = ts.createProgram([path.join(home, file)], {
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        // those of Blaze name packages that it does not install
        skipLibCheck,
        noEmit: true,
        target: ts.ScriptTarget.ES2022,
        module: moduleResolution === ts.ModuleResolutionKind.NodeNext ? ts.ModuleKind.NodeNext : ts.ModuleKind.ESNext,
        moduleResolution,
        lib: ["lib.es2022.d.ts", "lib.dom.d.ts", "lib.dom.asynciterable.d.ts"],
        types: [],
      });
      const found = ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) =>
        `${file && path.basename(file.fileName)}:${start}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`
      );
      expect(found).toEqual([]);
    },
    600_000,
  );

  const runtimes = [["Node", ["node"]], ["Deno", [process.execPath, "run", "-A", "--quiet", "--no-lock"]]] as const;
  it.each(runtimes)("run on %s", async (_name, command) => {
    const { code, stdout, stderr } = await runCli([path.join(home, "consumer.run.mjs"), service], { command });
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual(EXPECTED);
  }, 600_000);

  it.each(runtimes)("run Blaze's own library on %s", async (_name, command) => {
    const { code, stdout, stderr } = await runCli([path.join(home, "blazeConsumer.run.mjs"), service], { command });
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual(BLAZE_EXPECTED);
  }, 600_000);

  it("run in a browser", async ({ skip }) => {
    if (!browser) skip();
    const modules = {
      "@arbor-cardano/client": "client/dist/index.js",
      "@arbor-cardano/client/keys": "client/dist/keys.js",
    };
    const imports = {
      ...modules,
      "@arbor-cardano/client/ledger": "client/dist/ledger.js",
      "@arbor-cardano/client/offline": "client/dist/offline.js",
      "@arbor-cardano/client/mpfs-v2": "client/dist/mpfs-v2.js",
      "@arbor-cardano/client/replicas": "client/dist/replicas.js",
      "@arbor-cardano/forestry": "forestry/dist/index.js",
    };
    const pages = createServer((request, response) => {
      const file = path.join(home, request.url ?? "");
      if (request.url === "/") {
        const map = Object.fromEntries(
          Object.entries(imports).map(([name, to]) => [name, `/node_modules/@arbor-cardano/${to}`]),
        );
        response.writeHead(200, { "content-type": "text/html" })
          .end(`<!doctype html><script type="importmap">${JSON.stringify({ imports: map })}</script>`);
      } else if (existsSync(file)) {
        response.writeHead(200, { "content-type": "text/javascript" }).end(readFileSync(file));
      } else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
    const page = await browser!.newPage();
    page.setDefaultTimeout(300_000);
    await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`);
    const result = await page.evaluate(`import("/consumer.js").then(({ main }) => main(${JSON.stringify(service)}))`);
    expect(result).toEqual(EXPECTED);
    await page.close();
    await new Promise((resolve) => pages.close(resolve));
  }, 600_000);

  it("have programs that need Node alone", async () => {
    const bin = path.join(home, "node_modules", ".bin");
    mkdirSync(path.join(home, "elsewhere"), { recursive: true });
    const run = (name: string, ...args: string[]) => runCli(args, { command: [path.join(bin, name)] });
    expect(await run("arbor", "--version")).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
    const key = path.join(home, "elsewhere", "a.key");
    expect((await run("arbor", "key", "new", key)).stdout).toMatch(/^addr_test1v/);
    const listed = await run("arbor", "token", "list", "--tokens", service);
    expect(JSON.parse(listed.stdout)).toEqual({ tokens: [{ root: EXPECTED.state }] });
    expect(await run("arbor", "tokn")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("(Did you mean token?)"),
    });
    for (const [name, program] of Object.entries(packed.at(-1)!.sizes)) {
      expect(program, name).toBeGreaterThan(10_000);
      expect(await run(name, "--help")).toMatchObject({ code: 0, stderr: "" });
    }
  }, 600_000);
});
