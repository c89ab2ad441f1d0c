/** Blockfrost's own client on the devnet: it reads, submits and evaluates what it does not build. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { addressText, readAddressHex, rewardAddress } from "#src/cardano/address.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { spend } from "../support/devnet/devnet.ts";
import { valueOf } from "../support/devnet/devnetWorld.ts";
import { person } from "../support/wallets/person.ts";
import { javascriptPeer, type LibraryWorld, type Peer, REDEEMER, startPeer, startWorld, validator } from "./library.ts";
import { unlocking } from "./unlocking.ts";

const command = javascriptPeer("blockfrost-js");
const alice = person("alice");
const ada = 1_000_000n;
const text = (hex: string) => addressText(valueOf(readAddressHex(hex)));
const address = text(alice.enterprise);
const stake = addressText(rewardAddress(0, { kind: "key", hash: alice.stake }));
const script = validator(3);

describe.skipIf(command === undefined)("@blockfrost/blockfrost-js", () => {
  let world: LibraryWorld;
  let peer: Peer;
  let hash: string;

  beforeAll(async () => {
    world = await startWorld();
    peer = startPeer(command!, { url: `${world.api}/v0` });
    await world.fund(address, 100);
  });
  afterAll(async () => {
    await peer?.stop();
    await world?.stop();
  });
  const call = async <T = Record<string, unknown>>(name: string, ...args: unknown[]) =>
    await peer.call<T>("api", { name, args });

  test("submits a payment and finds it", async () => {
    const inputs = await world.outputs(address);
    const to = world.fresh();
    const outputs = [[alice.enterprise, 98n * ada]] as const;
    const made = spend({ from: alice, inputs, outputs });
    hash = await call<string>("txSubmit", toHex(made.cbor));
    expect(hash).toBe(made.hash);
    const landed = await world.landed(hash);
    expect(await call("txs", hash)).toMatchObject({ hash, fees: String(landed.fee), valid_contract: true });
    expect(await call("txsCbor", hash)).toEqual({ cbor: toHex(made.cbor) });
    expect(await call("txsUtxos", hash)).toMatchObject({
      inputs: [{ tx_hash: inputs[0]!.ref.txHash, output_index: inputs[0]!.ref.index, address }],
      outputs: [{
        address,
        amount: [{ unit: "lovelace", quantity: "98000000" }],
        output_index: 0,
        consumed_by_tx: null,
      }],
    });
    const [unspent] = await call<Record<string, unknown>[]>("addressesUtxosAll", address);
    expect(unspent).toMatchObject({ address, tx_hash: hash, output_index: 0, data_hash: null });
    expect(await call("addresses", address)).toMatchObject({ address, script: false, stake_address: null });
    const hashes = (await call<{ tx_hash: string }[]>("addressesTransactionsAll", address)).map((one) => one.tx_hash);
    expect(hashes).toEqual([inputs[0]!.ref.txHash, hash]);
    await expect(call("addressesUtxos", to)).rejects.toThrow(/not been found/);
  });

  test("reads blocks, epochs and the network", async () => {
    const { block, block_height: height } = await call<{ block: string; block_height: number }>("txs", hash);
    expect(await call("blocks", block)).toMatchObject({ hash: block, height, tx_count: 1 });
    expect(await call("blocks", height)).toMatchObject({ hash: block, height });
    expect(await call("blocksTxsAll", block)).toEqual([hash]);
    expect(await call("genesis")).toMatchObject({ network_magic: 42, epoch_length: 200 });
    const { epoch } = await call<{ epoch: number }>("epochsLatest");
    expect(epoch).toBeGreaterThanOrEqual(0);
    expect(await call("epochsParameters", epoch)).toMatchObject({
      protocol_major_ver: 11,
      coins_per_utxo_size: "4310",
    });
    const { cost_models_raw: models } = await call<{ cost_models_raw: Record<string, number[]> }>(
      "epochsLatestParameters",
    );
    const languages = ["PlutusV1", "PlutusV2", "PlutusV3"];
    expect(models).toEqual(
      Object.fromEntries(languages.map((name, i) => [name, mainnetParameters.costModels.get(i)!.map(Number)])),
    );
    expect(await call("poolsAll")).toEqual([(await world.pool()).id]);
    expect(await call("health")).toEqual({ is_healthy: true });
  });

  test("evaluates a script, and passes on why it fails", async () => {
    await world.fund(script.address, 10);
    const [locked] = await world.outputs(script.address);
    const coins = await world.outputs(address);
    const spending = (redeemer: bigint) => unlocking({ by: alice, script, locked: locked!, coins, redeemer });
    const { index, hex } = spending(BigInt(REDEEMER));
    const evaluated = await call("utilsTxsEvaluate", hex);
    const spent = { memory: expect.any(Number), steps: expect.any(Number) };
    expect(evaluated).toMatchObject({ result: { EvaluationResult: { [`spend:${index}`]: spent } } });
    expect((await call("utilsTxsEvaluateUtxos", hex, [])).result).toEqual(evaluated.result);
    const failing = spending(BigInt(REDEEMER) + 1n).hex;
    expect(await call("utilsTxsEvaluate", failing)).toMatchObject({
      result: { EvaluationFailure: { ScriptFailures: { [`spend:${index}`]: [expect.anything()] } } },
    });
    await expect(call("txSubmit", failing)).rejects.toThrow(/TxSubmitFail/);
    await world.landed(await call<string>("txSubmit", hex));
    expect(await world.outputs(script.address)).toEqual([]);
    const redeemers = await call<Record<string, unknown>[]>("scriptsRedeemers", script.hash);
    expect(redeemers).toMatchObject([{ purpose: "spend", tx_index: index }]);
  });

  test("names what is wrong with a request", async () => {
    await expect(call("addresses", "addr_test1nonsense")).rejects.toThrow(/malformed|Invalid/i);
    await expect(call("txs", "00".repeat(32))).rejects.toThrow(/not been found/);
    await expect(call("accounts", stake)).rejects.toThrow(/not been found/);
    await expect(call("txSubmit", "80")).rejects.toThrow(/TxSubmitFail/);
  });

  test("each of its functions for lists and documents is answered", async () => {
    const block = (await call<{ block: string }>("txs", hash)).block;
    const { epoch } = await call<{ epoch: number }>("epochsLatest");
    const { id: pool } = await world.pool();
    const calls: Record<string, unknown[]> = {
      root: [],
      healthClock: [],
      network: [],
      networkEras: [],
      blocksLatest: [],
      blocksNext: [block],
      blocksPrevious: [block],
      blocksAddressesAll: [block],
      blocksTxsCborAll: [block],
      epochs: [epoch],
      epochsBlocksAll: [epoch],
      epochsBlocksByPoolIdAll: [epoch, pool],
      epochsStakesAll: [0],
      epochsPrevious: [epoch],
      addressesTotal: [address],
      addressesExtended: [address],
      txsMetadata: [hash],
      txsMetadataCbor: [hash],
      txsDelegations: [hash],
      txsStakes: [hash],
      txsWithdrawals: [hash],
      txsMirs: [hash],
      txsPoolUpdates: [hash],
      txsPoolRetires: [hash],
      txsRedeemers: [hash],
      txsRequiredSigners: [hash],
      assets: [],
      metadataTxsLabels: [],
      mempoolAll: [],
      mempoolByAddressAll: [address],
      poolsExtendedAll: [],
      poolsRetired: [],
      poolsRetiring: [],
      poolsById: [pool],
      poolsByIdBlocks: [pool],
      poolsByIdDelegators: [pool],
      poolsByIdHistory: [pool],
      poolsByIdRelays: [pool],
      poolsByIdUpdates: [pool],
      poolMetadata: [pool],
      scripts: [],
      scriptsByHash: [script.hash],
      scriptsCbor: [script.hash],
      scriptsJson: [script.hash],
      scriptsUtxosAll: [script.hash],
    };
    const refused: Record<string, string> = {};
    for (const [name, args] of Object.entries(calls)) {
      const { message } = await call(name, ...args).then(() => ({ message: undefined }), (error: Error) => error);
      if (message !== undefined) refused[name] = message;
    }
    expect(refused).toEqual({});
  });
});
