/** The network of a start: mainnet, or a test network by its Byron genesis file or its magic. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { publicGenesis } from "#src/chain/provider/genesisHash.ts";
import { MAINNET_MAGIC } from "#src/cardano/magic.ts";
import { StartError } from "#src/app/context.ts";
import { mainnetNotice, tokensServed } from "#src/app/mainnet.ts";
import { checkNetwork } from "#src/app/networkCheck.ts";
import { HELP, type Options, readOptions } from "#src/app/options.ts";
import { vectors } from "../../support/base/vectors.ts";

const folder = mkdtempSync(path.join(os.tmpdir(), "arbor-genesis-"));
afterAll(() => rmSync(folder, { recursive: true }));

function genesis(name: string, content: unknown): string {
  const file = path.join(folder, name);
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

const NODE = ["--provider", "node", "--node-socket", "/run/n"];
const START = 1_654_041_600;
const preprod = genesis("preprod.json", {
  startTime: START,
  protocolConsts: { k: 2160, protocolMagic: 1 },
  blockVersionData: { slotDuration: "20000" },
  nonAvvmBalances: { a: "30000000000000000" },
});
const mainnet = genesis("mainnet.json", { startTime: 1_506_203_091, protocolConsts: { protocolMagic: MAINNET_MAGIC } });

function options(args: readonly string[], env: Record<string, string> = {}): Options {
  const read = readOptions(args, env);
  if (!read.ok || read.value === "help") throw new Error(read.ok ? "help" : read.error.message);
  return read.value;
}
const network = (args: readonly string[], env: Record<string, string> = {}) => {
  const { networkMagic, genesisStart } = options(args, env);
  return [networkMagic, genesisStart];
};
function refused(args: readonly string[], env: Record<string, string> = {}): string {
  const read = readOptions(args, env);
  return read.ok ? "accepted" : read.error.message;
}

describe("the network", () => {
  it("is mainnet by its name or its magic, with a node or a Blockfrost service", () => {
    expect(network([...NODE, "--mainnet"])).toEqual([MAINNET_MAGIC, undefined]);
    expect(network([...NODE, "--network-magic", String(MAINNET_MAGIC)])).toEqual([MAINNET_MAGIC, undefined]);
    expect(network([...NODE, "--mainnet", "--network-magic", String(MAINNET_MAGIC)])).toEqual([
      MAINNET_MAGIC,
      undefined,
    ]);
    expect(network(NODE, { ARBOR_MAINNET: "true" })).toEqual([MAINNET_MAGIC, undefined]);
    expect(network(NODE, { ARBOR_MAINNET: "false" })).toEqual([42, undefined]);
    expect(options(["--provider", "blockfrost", "--mainnet"]).blockfrost)
      .toEqual({ url: "https://cardano-mainnet.blockfrost.io/api/v0" });
  });

  it("is a test network by its Byron genesis file or its magic", () => {
    expect(network([...NODE, "--testnet", preprod])).toEqual([1, START * 1_000]);
    expect(network([...NODE, "--testnet", preprod, "--network-magic", "1"])).toEqual([1, START * 1_000]);
    expect(network(NODE, { ARBOR_TESTNET: preprod })).toEqual([1, START * 1_000]);
    expect(network([...NODE, "--network-magic", "2"])).toEqual([2, undefined]);
  });

  it("of a genesis file is known by the file's hash: preview by its own file", () => {
    const preview = options([...NODE, "--testnet", vectors("preview-byron-genesis.json")]);
    expect(preview).toMatchObject({ networkMagic: 2, genesisStart: Date.parse("2022-10-25T00:00:00Z") });
    expect(preview.genesisHash).toBe(publicGenesis(2));
    expect(options(NODE).genesisHash).toBeUndefined();
  });

  it("that the command line names takes precedence over the environment", () => {
    expect(network([...NODE, "--mainnet"], { ARBOR_NETWORK_MAGIC: "1" })).toEqual([MAINNET_MAGIC, undefined]);
    expect(network([...NODE, "--network-magic", "2"], { ARBOR_MAINNET: "true", ARBOR_TESTNET: preprod }))
      .toEqual([2, undefined]);
  });

  it("is refused if options contradict each other", () => {
    expect(refused([...NODE, "--mainnet", "--network-magic", "1"]))
      .toBe(`--mainnet (magic ${MAINNET_MAGIC}) contradicts --network-magic (magic 1).`);
    expect(refused([...NODE, "--mainnet", "--testnet", preprod])).toMatch(
      /--mainnet .* contradicts --testnet .*magic 1/,
    );
    expect(refused([...NODE, "--testnet", preprod, "--network-magic", "2"])).toMatch(/contradicts --network-magic/);
    expect(refused(NODE, { ARBOR_MAINNET: "true", ARBOR_NETWORK_MAGIC: "2" })).toMatch(/contradicts/);
    expect(refused([...NODE, "--testnet", mainnet])).toMatch(/is the genesis of mainnet: use --mainnet\.$/);
    expect(refused(NODE, { ARBOR_MAINNET: "yes" })).toBe("--mainnet (ARBOR_MAINNET) must be true or false, not yes.");
  });

  it("of a devnet is never mainnet, and has a genesis of its own", () => {
    for (const args of [["--mainnet"], ["--network-magic", String(MAINNET_MAGIC)]]) {
      expect(refused(args)).toBe(
        "mainnet requires --provider node, ogmios, blockfrost or yaci: a devnet is never mainnet.",
      );
      expect(refused([...args, "--roles", "devnet"])).toMatch(/never mainnet/);
    }
    expect(refused([...NODE, "--mainnet", "--roles", "devnet"])).toMatch(/the role devnet requires --provider devnet/);
    expect(refused(["--testnet", preprod])).toMatch(/--testnet requires --provider node/);
  });

  it("is refused where the file is not a Byron genesis, and the sentence says why", () => {
    const cases: [file: string, problem: RegExp][] = [
      [path.join(folder, "missing.json"), /cannot be read/],
      [genesis("text.json", "not json"), /cannot be read/],
      [genesis("array.json", []), /is not a Byron genesis/],
      [genesis("shelley.json", { networkMagic: 1 }), /is not a Byron genesis.*startTime/],
      [
        genesis("negative.json", { startTime: 1, protocolConsts: { protocolMagic: -1 } }),
        /protocolConsts\.protocolMagic/,
      ],
      [genesis("text-magic.json", { startTime: 1, protocolConsts: { protocolMagic: "1" } }), /protocolMagic/],
    ];
    for (const [file, problem] of cases) expect(refused([...NODE, "--testnet", file])).toMatch(problem);
  });

  it("is described by --help", () => {
    for (const option of ["--mainnet", "--testnet FILE", "--network-magic N", "--tokens-on-mainnet"]) {
      expect(HELP).toContain(`  ${option} `);
    }
  });
});

describe("a provider", () => {
  const port = (systemStart: number) => ({
    genesis: () => Promise.resolve({ ok: true, value: { systemStart } } as never),
  });
  const check = (args: readonly string[], id: 0 | 1, systemStart = 0) =>
    checkNetwork(options([...NODE, ...args]), id, port(systemStart));

  it("must state the network id of the magic", async () => {
    await check(["--mainnet"], 1);
    await check(["--network-magic", "1"], 0);
    await expect(check(["--mainnet"], 0)).rejects.toThrow(StartError);
    await expect(check(["--network-magic", "1"], 1)).rejects.toThrow(
      "The provider states the network id 1 (mainnet); the magic 1 is that of a test network.",
    );
  });

  it("must have the start time of the genesis file", async () => {
    await check(["--testnet", preprod], 0, START * 1_000);
    await check(["--testnet", preprod], 0, START * 1_000 + 999);
    await expect(check(["--testnet", preprod], 0, START * 1_000 + 1_000)).rejects.toThrow(/they are two networks/);
  });
});

describe("the token service", () => {
  const served = (args: readonly string[], networkId: 0 | 1) =>
    tokensServed({ options: options([...NODE, ...args]), networkId });
  const notice = (args: readonly string[], networkId: 0 | 1) =>
    mainnetNotice({ options: options([...NODE, ...args]), networkId });

  it("works on mainnet only if the options say so", () => {
    expect(served([], 0)).toBe(true);
    expect(served(["--mainnet"], 1)).toBe(false);
    expect(served(["--mainnet", "--tokens-on-mainnet"], 1)).toBe(true);
  });

  it("is mentioned at a start on mainnet while it is off", () => {
    expect(notice([], 0)).toEqual([]);
    expect(notice(["--mainnet"], 1)).toHaveLength(2);
    expect(notice(["--mainnet", "--roles", "worker"], 1)).toHaveLength(1);
    const [only, ...others] = notice(["--mainnet", "--tokens-on-mainnet"], 1);
    expect(only).toMatch(/^This is mainnet: .* has met no live mainnet node/);
    expect(others).toEqual([]);
  });
});

describe("the root of the unspent outputs", () => {
  const root = ["--utxo-root", "/n/config.json"];

  it("is kept over a node or an Ogmios", () => {
    expect(options([...NODE, ...root]).utxoRoot).toBe("/n/config.json");
    expect(options([...NODE], { ARBOR_UTXO_ROOT: "/n/config.json" }).utxoRoot).toBe("/n/config.json");
    expect(options(["--provider", "ogmios", "--ogmios-url", "ws://127.0.0.1:1337", ...root]).utxoRoot)
      .toBe("/n/config.json");
    expect(options(NODE).utxoRoot).toBeUndefined();
  });

  it("enters the log of tokens where there is one", () => {
    const snapshots = ["--log-snapshots", "100"];
    expect(options([...NODE, ...root, ...snapshots]).tokenLog?.snapshots).toBe(100);
    expect(options(snapshots).tokenLog?.snapshots).toBe(100);
    expect(refused([...NODE, ...snapshots])).toMatch(/--log-snapshots requires --provider devnet or --utxo-root/);
    expect(refused([...snapshots, "--devnet-without", "ogmios,utxo-root"])).toMatch(
      /^--log-snapshots and --devnet-without utxo-root exclude each other: /,
    );
  });

  it("is refused where the provider does not give every block from the first one on, and beside a devnet", () => {
    expect(refused(["--provider", "blockfrost", "--network-magic", "1", ...root])).toMatch(/do not give whole blocks/);
    expect(refused(["--provider", "yaci", "--yaci-url", "http://127.0.0.1", "--network-magic", "1", ...root]))
      .toMatch(/do not give whole blocks/);
    const from = ["--ogmios-from", `1.${"ab".repeat(32)}`];
    expect(refused(["--provider", "ogmios", "--ogmios-url", "ws://127.0.0.1:1337", ...from, ...root]))
      .toMatch(/exclude each other/);
    expect(refused(root)).toMatch(/a devnet keeps a root without it/);
  });
});
