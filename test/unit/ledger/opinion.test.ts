/**
 * A second opinion: the emulator of scalus, which has mainnet's parameters built in, judges the same transactions. It
 * agrees on script data hashes (so on our cost models and language views) and on fees.
 */
import scalus from "scalus";
import { describe, expect, it } from "vitest";
import { concat, fromHex } from "#src/base/bytes.ts";
import { encode, head } from "#src/cardano/cbor.ts";
import { minFee } from "#src/transaction/fee.ts";
import { parseRefKey } from "#src/cardano/output.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { ada, alice, asset, atScript, bob, datumHash, type Draft, output, World } from "../../support/ledger/draft.ts";
import { agrees, agreesWithThree, agreesWithTwo, plutusHash } from "../../support/plutus/scripts.ts";

const { Emulator, SlotConfig } = scalus;
const parameters = mainnetParametersAt(10);

/** The emulator's verdict on a transaction on the outputs of a world. */
function ask(world: World, transaction: Uint8Array): { isSuccess: boolean; error?: string } {
  const parts = [head(5, world.outputs.size)];
  for (const [key, { raw }] of world.outputs) {
    const { txHash, index } = parseRefKey(key);
    parts.push(encode([fromHex(txHash), index]), raw);
  }
  const emulator = new Emulator(concat(...parts), SlotConfig.preview);
  emulator.setSlot(world.slot);
  return emulator.submitTx(transaction);
}

const minting = (language: 1 | 2 | 3, script: Uint8Array): Draft => ({
  mint: new Map([[asset(plutusHash(language, script)), 1n]]),
  plutus: { [language]: [script] },
  redeemers: [[1, 0]],
});

describe("scalus agrees", () => {
  it.each<[string, (world: World) => Draft]>([
    ["to a payment", () => ({ outputs: [output(bob.address, 2n * ada)], paid: 2n * ada })],
    ["to minting with Plutus V1", () => minting(1, agreesWithTwo)],
    ["to minting with Plutus V2", () => minting(2, agreesWithTwo)],
    ["to minting with Plutus V3", () => minting(3, agrees)],
    ["to all languages at once", (world) => ({
      ...minting(3, agrees),
      inputs: [
        world.fund(atScript(plutusHash(1, agreesWithThree)), 9n * ada, { datumHash: datumHash(1n) }),
        world.fund(atScript(plutusHash(2, agreesWithThree)), 9n * ada, { datumHash: datumHash(1n) }),
      ],
      datums: [1n],
      plutus: { 1: [agreesWithThree], 2: [agreesWithThree], 3: [agrees] },
      redeemers: [[0, 0], [0, 1], [1, 0]],
    })],
    ["to datums alone", () => ({
      datums: [1n],
      outputs: [output(bob.address, 2n * ada, { datumHash: datumHash(1n) })],
      paid: 2n * ada,
    })],
  ])("%s, and that its script data hash must be right", async (_, draft) => {
    const world = new World(parameters);
    const good = world.write(draft(world));
    expect(ask(world, good)).toMatchObject({ isSuccess: true });
    expect(await world.failures(good)).toEqual([]);
    const bad = world.write({ ...draft(world), fields: { 11: new Uint8Array(32) } });
    expect(ask(world, bad)).toMatchObject({ isSuccess: false });
    expect(await world.failures(bad)).toContain("PPViewHashesDontMatch");
  });

  it("on the minimum fee, and on no lovelace less", async () => {
    for (const draft of [{}, minting(3, agrees)]) {
      const world = new World(parameters);
      const inputs = [world.fund(alice.address)];
      const read = readTransaction(world.write({ ...draft, inputs, fee: 200_000n }));
      if (!read.ok) throw new Error(read.error.message);
      const fee = minFee(parameters, read.value);
      for (const [paid, expected] of [[fee, true], [fee - 1n, false]] as const) {
        const bytes = world.write({ ...draft, inputs, fee: paid });
        expect(ask(world, bytes).isSuccess).toBe(expected);
        expect((await world.failures(bytes)).length === 0).toBe(expected);
      }
    }
  });
});
