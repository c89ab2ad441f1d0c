/** Scripts on the devnet, with the real evaluator. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { VirtualClock } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { balance } from "#src/transaction/balance.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { constr, encodeData } from "#src/cardano/data.ts";
import { encode } from "#src/cardano/cbor.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { horizon } from "#src/cardano/eras.ts";
import { lovelace } from "#src/cardano/value.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import type { DevnetOptions } from "#src/devnet/options.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";
import { checkRows, devnetStore } from "../../support/devnet/devnet.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { agrees, plutusHash, refuses } from "../../support/plutus/scripts.ts";
import { person, signed } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const alice = person("alice");
const accepted = { ok: true, value: { outcome: "accepted" } };

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
let bus: Bus;
let devnet: Devnet;
let evaluations = 0;

beforeEach(async () => {
  infra = await sharedInfra();
  store = await devnetStore(infra.databaseUrl);
  bus = await connectBus({ url: infra.natsUrl, ...(infra.natsToken ? { token: infra.natsToken } : {}) });
  await start();
});

async function start(options: DevnetOptions = {}): Promise<void> {
  evaluations = 0;
  const started = await startDevnet({
    store,
    bus,
    evaluate: async (input) => {
      evaluations++;
      return evaluateScripts(input);
    },
    log: silentLog,
    clock: new VirtualClock(1_800_000_000_000),
    options: {
      blockMs: 0,
      leaseMs: 5_000,
      publish: [{ address: scriptAddress(0, plutusHash(3, refuses)).hex, script: encode([3, agrees]) }],
      ...options,
    },
  });
  if (!started.ok) throw new Error(started.error.message);
  devnet = started.value;
}
afterEach(async () => {
  await devnet.stop();
  await bus.close();
  await store.close();
  await infra.stop();
});

async function give(address: string, amount: bigint): Promise<Utxo> {
  const paid = await devnet.faucet.pay(address, amount);
  if (!paid.ok) throw new Error(paid.error.message);
  const waiting = devnet.mempool().find(({ transaction }) => transaction.hash === paid.value.txHash)!;
  return waiting.applied.created.find(({ output }) => output.address === address)!;
}

/** A signed transaction that spends a script's output for Alice, who pays the fee. */
function unlock(
  locked: Utxo,
  coin: Utxo,
  by: { script?: Uint8Array; reference?: Utxo; validTo?: number },
): Uint8Array {
  const balanced = balance(
    {
      inputs: [locked],
      outputs: [{ address: alice.enterprise, value: lovelace(locked.output.value.lovelace - ada) }],
      redeemers: [{ for: { purpose: "spend", ref: locked.ref }, data: encodeData(constr(0)) }],
      references: by.reference ? [by.reference] : [],
      scripts: by.script ? [by.script] : [],
      requiredSigners: [],
      validTo: by.validTo,
    },
    { address: alice.enterprise, available: [{ utxo: coin }] },
    devnet.genesis.parameters,
    // a failing script gets units as well, so that only the ledger's evaluation fails
    () => ({
      ok: true,
      redeemers: [{ purpose: "spend", index: index(locked, coin), units: { memory: 50_000n, steps: 20_000_000n } }],
    }),
  );
  if (!balanced.ok) throw new Error(balanced.error.message);
  return signed(balanced.value.transaction, alice);
}

const index = (one: Utxo, other: Utxo) => Number(one.ref.txHash > other.ref.txHash);

test("a succeeding script unlocks its output, as a reference script and as a witness", async () => {
  const at = scriptAddress(0, plutusHash(3, agrees)).hex;
  const [locked, other, coin, second] = [
    await give(at, 10n * ada),
    await give(at, 12n * ada),
    await give(alice.enterprise, 20n * ada),
    await give(alice.enterprise, 20n * ada),
  ];
  await devnet.makeBlock();
  const published = await devnetPort({ store, bus, log: silentLog }).utxosByAddress([
    scriptAddress(0, plutusHash(3, refuses)).hex,
  ]);
  if (!published.ok) throw new Error(published.error.message);
  const reference = published.value.value[0]!;
  const both = [unlock(locked, coin, { reference }), unlock(other, second, { script: agrees })];
  expect(await Promise.all(both.map((cbor) => devnet.submit(cbor)))).toEqual([accepted, accepted]);
  await devnet.makeBlock();
  const before = await checkRows(store);
  expect(before.blocks.at(-1)!.transactions.every(({ valid }) => valid)).toBe(true);
  expect(before.blocks.at(-1)!.transactions).toHaveLength(2);
  // each was evaluated once, and returning after a rollback needs no further evaluation
  expect(evaluations).toBe(2);
  await devnet.rollback({ blocks: 1 });
  expect((await checkRows(store)).mempool).toHaveLength(2);
  await devnet.makeBlock();
  expect((await checkRows(store)).unspent).toEqual(before.unspent);
  expect(evaluations).toBe(2);
});

test("a failing script is reported, and one flagged as failing takes the collateral", async () => {
  const locked = await give(scriptAddress(0, plutusHash(3, refuses)).hex, 10n * ada);
  const coin = await give(alice.enterprise, 20n * ada);
  await devnet.makeBlock();
  const cbor = unlock(locked, coin, { script: refuses });
  expect(await devnet.submit(cbor)).toMatchObject({
    ok: true,
    value: { outcome: "refused", failures: [{ name: "ValidationTagMismatch", kind: "FailedUnexpectedly" }] },
  });
  // the validity flag is after the witnesses and before the absent auxiliary data: the last byte but one
  const failing = cbor.slice();
  failing[failing.length - 2] = 0xf4;
  expect(await devnet.submit(failing)).toEqual(accepted);
  await devnet.makeBlock();
  const { blocks, unspent } = await checkRows(store);
  const [transaction] = blocks.at(-1)!.transactions;
  expect(transaction!.valid).toBe(false);
  expect(unspent.has(`${locked.ref.txHash}#${locked.ref.index}`)).toBe(true);
  expect(unspent.has(`${coin.ref.txHash}#${coin.ref.index}`)).toBe(false);
  await devnet.rollback({ blocks: 1 });
  const after = await checkRows(store);
  expect(after.unspent.has(`${coin.ref.txHash}#${coin.ref.index}`)).toBe(true);
  expect(after.mempool).toEqual([transaction!.hash]);
});

test("a bound past the end of the era history is refused until the tip is near enough, or with the option", async () => {
  const locked = await give(scriptAddress(0, plutusHash(3, agrees)).hex, 10n * ada);
  const coin = await give(alice.enterprise, 20n * ada);
  await devnet.makeBlock();
  const { height } = devnet.tip();
  const eras = await devnetPort({ store, bus, log: silentLog }).eras();
  if (!eras.ok) throw new Error(eras.error.message);
  const validTo = horizon(eras.value.value.history)!.slot;
  expect([validTo, devnet.horizon()]).toEqual([6_600, validTo]);
  const past = unlock(locked, coin, { script: agrees, validTo });
  const refused = {
    ok: true,
    value: {
      outcome: "refused",
      failures: [{ name: "CollectErrors", errors: [{ reason: "TimeTranslationPastHorizon" }] }],
    },
  };
  expect(await devnet.submit(past)).toMatchObject(refused);
  expect(await devnet.advance({ epochs: 1 })).toMatchObject({ ok: true });
  expect(await devnet.submit(past)).toEqual(accepted);
  // what the mempool has remains there, and goes into a block, when a rollback brings the horizon back
  await devnet.rollback({ blocks: 1 });
  expect(devnet.mempool()).toHaveLength(1);
  await devnet.makeBlock();
  expect(devnet.mempool()).toEqual([]);

  await devnet.rollback({ height }, { drop: true });
  await devnet.stop();
  await start({ pastHorizon: true });
  const farther = unlock(locked, coin, { script: agrees, validTo: validTo + 1_000_000 });
  expect(devnet.horizon()).toBeUndefined();
  expect(await devnet.submit(farther)).toEqual(accepted);
});
