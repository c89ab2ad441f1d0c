/** The outputs of a genesis, by those of mainnet and preview that are known. */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { parseJson } from "#src/base/json.ts";
import { fromHex } from "#src/base/bytes.ts";
import { spent } from "#src/cardano/block.ts";
import { isRedeemAddress, toBase58 } from "#src/cardano/byron.ts";
import { byronBalances, byronOutputs, shelleyFunds, shelleyOutputs } from "#src/cardano/genesisOutputs.ts";
import { initHash } from "#src/cardano/hash.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { blocksOf, chunks } from "../../support/chain/vectorBlocks.ts";
import { vectors } from "../../support/base/vectors.ts";

beforeAll(initHash);

/** A redeem key of mainnet's genesis, with its address and the id of the transaction that it stands for. */
const MAINNET = {
  key: "URVk8FxX6Ik9z-Cub09oOxMkp6FwNq27kJUXbjJnfsQ=",
  address: "Ae2tdPwUPEZKQuZh2UndEoTKEakMYHGNjJVYmNZgJk2qqgHouxDsA5oT83n",
  txHash: "0ae3da29711600e94a33fb7441d2e76876a9a1e98b5ebdefbf2e3bc535617616",
};

function balances(avvmDistr: Record<string, string>, nonAvvmBalances: Record<string, string> = {}) {
  return byronBalances.safeParse({ avvmDistr, nonAvvmBalances });
}

async function outputsOf(read: ReturnType<typeof balances>, magic?: number) {
  if (!read.success) throw read.error;
  return await byronOutputs(read.data, magic);
}

describe("a Byron genesis", () => {
  it("has the address and the transaction of mainnet's redeem keys", async () => {
    const [{ ref, output } = expect.fail()] = await outputsOf(balances({ [MAINNET.key]: "9999300000000" }));
    expect(toBase58(fromHex(output.address))).toBe(MAINNET.address);
    expect([ref, output.value.lovelace]).toEqual([{ txHash: MAINNET.txHash, index: 0 }, 9_999_300_000_000n]);
    expect(isRedeemAddress(output.address)).toBe(true);
  });

  it("has the magic of a test network in the addresses of redeem keys", async () => {
    const [one] = await outputsOf(balances({ [MAINNET.key]: "1" }), 1097911063);
    const [other] = await outputsOf(balances({ [MAINNET.key]: "1" }), 1);
    expect(one!.output.address).toContain("1a4170cb17");
    expect(isRedeemAddress(one!.output.address)).toBe(true);
    expect(one!.ref).not.toEqual(other!.ref);
  });

  it("has the outputs that preview's first blocks spend", async () => {
    const read = byronBalances.safeParse(parseJson(readFileSync(vectors("preview-byron-genesis.json"), "utf8")));
    const outputs = await outputsOf(read, 2);
    expect(outputs).toHaveLength(8);
    expect(outputs.every(({ output }) => !isRedeemAddress(output.address))).toBe(true);
    const known = new Set(outputs.map(({ ref }) => refKey(ref)));
    const blocks = blocksOf(chunks.find(({ file }) => file.includes("preview-genesis"))!).map((bytes) =>
      scanBlock(bytes)
    );
    const first = blocks.flatMap(({ transactions }) => transactions).flatMap(spent).map(refKey);
    expect(first.filter((ref) => known.has(ref))).toHaveLength(1);
  });

  it("is refused with keys, addresses and amounts that cannot be", () => {
    expect(balances({ "AAAA": "1" }).success).toBe(false);
    expect(balances({ "!": "1" }).success).toBe(false);
    expect(balances({ [MAINNET.key]: "-1" }).success).toBe(false);
    expect(balances({}, { [MAINNET.address.replace("3n", "3m")]: "1" }).success).toBe(false);
    expect(balances({}, { "0": "1" }).success).toBe(false);
  });
});

it("a Shelley genesis has its initial funds", () => {
  const address = `61${"ab".repeat(28)}`;
  const json = parseJson(`{"initialFunds": {"${address}": 30000000000000001}}`);
  const [one] = shelleyOutputs(shelleyFunds.parse(json));
  expect(one!.output).toMatchObject({ address, value: { lovelace: 30_000_000_000_000_001n } });
  expect(one!.ref.index).toBe(0);
  expect(shelleyFunds.safeParse({ initialFunds: { "xy": 1 } }).success).toBe(false);
});
