/**
 * A devnet whose protocol version changes with an epoch: parameters, cost models and rules change with its first block.
 */
import { expect, test } from "vitest";
import { VirtualClock } from "#src/base/clock.ts";
import { equalBytes } from "#src/base/bytes.ts";
import { parseJson } from "#src/base/json.ts";
import { referenceScript } from "#src/contract/publication.ts";
import { cageScripts, firstProtocol } from "#src/contract/script.ts";
import { silentLog } from "#src/base/log.ts";
import { balance } from "#src/transaction/balance.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { constr, encodeData } from "#src/cardano/data.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { lovelace } from "#src/cardano/value.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import type { ReferenceScript } from "#src/devnet/faucet/publish.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";
import { evaluateScripts } from "#src/plutus/evaluate.ts";
import { allLovelace, checkRows } from "../../support/devnet/devnet.ts";
import { devnetWorld, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { agrees, plutusHash } from "../../support/plutus/scripts.ts";
import { person, signed } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const EPOCH = 5;
const FORK = 2;
const alice = person("alice");
const script = scriptAddress(0, plutusHash(3, agrees)).hex;
const before = mainnetParametersAt(10);
const after = mainnetParametersAt(11);

const world = devnetWorld();
/** Starts a devnet that forks, on the world's clock. */
async function start(clock = world.clock, publish: readonly ReferenceScript[] = []): Promise<Devnet> {
  const devnet = valueOf(
    await startDevnet({
      store: world.store,
      bus: world.bus,
      evaluate: async (input) => evaluateScripts(input),
      log: silentLog,
      clock,
      options: {
        blockMs: 0,
        leaseMs: 4_000,
        epochLength: EPOCH,
        pools: 1,
        parameters: before,
        hardForkEpoch: FORK,
        publish,
      },
    }),
  );
  world.running.push(devnet);
  return devnet;
}

/** Makes blocks up to the first slot of an epoch. */
async function until(devnet: Devnet, epoch: number): Promise<void> {
  while ((await makeBlock(devnet)).slot < epoch * EPOCH);
}

const parameters = async (): Promise<Parameters> => valueOf(await world.rows.parameters()).value;
const lengths = ({ costModels }: Parameters) => [...costModels.values()].map(({ length }) => length);

test("parameters change with the first block of the epoch, for every reader", async () => {
  const devnet = await start();
  const { node } = await world.serve(devnet);
  const app = devnetApp({ devnet, store: world.store, port: world.rows, files: [], health: () => {}, log: silentLog });
  const get = async (path: string) => parseJson(await (await app.request(path)).text()) as Record<string, never>;
  const everywhere = async (expected: Parameters) => {
    const point = { slot: devnet.tip().slot, hash: devnet.tip().hash };
    expect(valueOf(await world.rows.parameters())).toEqual({ point, value: expected });
    expect(valueOf(await node.parameters())).toMatchObject({ point, value: expected });
    const shown = await get("/parameters");
    expect(shown.protocolVersion).toEqual(expected.protocolVersion);
    expect(Object.values(shown.costModels!).map((model) => (model as unknown[]).length)).toEqual(lengths(expected));
    expect(await devnet.query((state) => state.parameters)).toEqual(expected);
  };
  expect((await get("/genesis")).hardFork).toEqual({ epoch: FORK, protocolVersion: { major: 11, minor: 0 } });

  await until(devnet, FORK - 1);
  await everywhere(before);
  while (devnet.tip().slot < FORK * EPOCH - 1) await makeBlock(devnet);
  await everywhere(before);
  const last = devnet.tip();
  await makeBlock(devnet);
  expect(lengths(await parameters())).toEqual([332, 332, 350]);
  await everywhere(after);
  const majors = await world.store.sql<
    { major: number }[]
  >`select major from devnet_block order by height desc limit 2`;
  expect(majors.map(({ major }) => major)).toEqual([11, 10]);
  await checkRows(world.store);

  // undone and redone; a state before it is still read with its own parameters
  valueOf(await devnet.rollback({ blocks: 1 }));
  expect(devnet.tip()).toEqual(last);
  await everywhere(before);
  await makeBlock(devnet);
  await everywhere(after);
  valueOf(await devnet.rollback({ blocks: 2 }));
  await everywhere(before);
  await until(devnet, FORK);
  await everywhere(after);
  expect(await devnet.query(allLovelace)).toBe(45_000_000_000n * ada);
});

test("the fork survives a restart, before and after it", async () => {
  const first = await start();
  await until(first, FORK - 1);
  await first.stop();
  const second = await start(new VirtualClock(world.clock.now()));
  expect(await parameters()).toEqual(before);
  await until(second, FORK);
  await second.stop();
  const third = await start(new VirtualClock(world.clock.now() + 1_000 * EPOCH * FORK));
  expect(await third.query((state) => state.parameters)).toEqual(after);
  expect(await parameters()).toEqual(after);
  await makeBlock(third);
  await checkRows(world.store);
  valueOf(await third.rollback({ slot: EPOCH }));
  expect(await third.query((state) => state.parameters)).toEqual(before);
});

test("scripts that need the new version are published with it, without another start", async () => {
  const scripts = cageScripts.slice(-2).map((one) => ({
    address: alice.enterprise,
    script: referenceScript(one),
    firstProtocol: firstProtocol(one),
  }));
  const devnet = await start(world.clock, scripts);
  const held = async () => {
    const { value } = valueOf(await world.rows.utxosByAddress([alice.enterprise]));
    return scripts.map(({ script }) => value.some(({ output }) => output.script && equalBytes(output.script, script)));
  };
  await makeBlock(devnet);
  expect(await held()).toEqual([true, false]);
  await until(devnet, FORK);
  await makeBlock(devnet);
  expect(await held()).toEqual([true, true]);
  // undone with the fork, and redone with it
  valueOf(await devnet.rollback({ slot: FORK * EPOCH - 1 }, { drop: true }));
  expect(await held()).toEqual([true, false]);
  valueOf(await devnet.enterNextEpoch());
  await makeBlock(devnet);
  expect(await held()).toEqual([true, true]);
});

test("an epoch without blocks does not prevent it", async () => {
  const devnet = await start();
  await makeBlock(devnet);
  world.clock.advance(1_000 * EPOCH * (FORK + 3));
  await makeBlock(devnet);
  expect(await parameters()).toEqual(after);
  valueOf(await devnet.rollback({ blocks: 1 }));
  expect(await parameters()).toEqual(before);
});

/** Pays an output of the faucet; it is in no block yet. */
async function give(devnet: Devnet, address: string, amount: bigint): Promise<Utxo> {
  const { txHash } = valueOf(await devnet.faucet.pay(address, amount));
  const waiting = devnet.mempool().find(({ transaction }) => transaction.hash === txHash)!;
  return waiting.applied.created.find(({ output }) => output.address === address)!;
}

/** A signed transaction that takes an output from the script, built with some parameters. */
function unlock(locked: Utxo, coin: Utxo, parameters: Parameters): Uint8Array {
  const index = Number(locked.ref.txHash > coin.ref.txHash);
  const balanced = balance(
    {
      inputs: [locked],
      outputs: [{ address: alice.enterprise, value: lovelace(locked.output.value.lovelace - ada) }],
      redeemers: [{ for: { purpose: "spend", ref: locked.ref }, data: encodeData(constr(0)) }],
      references: [],
      scripts: [agrees],
      requiredSigners: [],
    },
    { address: alice.enterprise, available: [{ utxo: coin }] },
    parameters,
    () => ({ ok: true, redeemers: [{ purpose: "spend", index, units: { memory: 50_000n, steps: 20_000_000n } }] }),
  );
  if (!balanced.ok) throw new Error(balanced.error.message);
  return signed(balanced.value.transaction, alice);
}

test("a transaction built with the earlier cost models is refused after the fork, and leaves the mempool", async () => {
  const devnet = await start();
  const locked = [await give(devnet, script, 10n * ada), await give(devnet, script, 11n * ada)] as const;
  const coins = [
    await give(devnet, alice.enterprise, 20n * ada),
    await give(devnet, alice.enterprise, 21n * ada),
  ] as const;
  await makeBlock(devnet);
  while (devnet.tip().slot < FORK * EPOCH - 1) await makeBlock(devnet);
  const waits = unlock(locked[0], coins[0], before);
  expect(valueOf(await world.rows.submit(waits))).toEqual({ outcome: "accepted" });
  await makeBlock(devnet);
  expect(devnet.mempool()).toEqual([]);

  const refused = valueOf(await world.rows.submit(waits));
  expect(refused).toMatchObject({ outcome: "refused", failures: [{ name: "ScriptIntegrityHashMismatch" }] });
  for (const [index, coin] of coins.entries()) {
    const built = unlock(locked[index]!, coin, await parameters());
    expect(valueOf(await world.rows.submit(built))).toEqual({ outcome: "accepted" });
  }
  await makeBlock(devnet);
  expect(devnet.mempool()).toEqual([]);
  await checkRows(world.store);
});

test("a transaction built with the new cost models returns to the mempool after a rollback, and is in the next block", async () => {
  const devnet = await start();
  const locked = await give(devnet, script, 10n * ada);
  const coin = await give(devnet, alice.enterprise, 20n * ada);
  await until(devnet, FORK);
  const { cbor, hash } = {
    cbor: unlock(locked, coin, await parameters()),
    hash: () => devnet.mempool()[0]?.transaction.hash,
  };
  expect(valueOf(await world.rows.submit(cbor))).toEqual({ outcome: "accepted" });
  const built = hash();
  await makeBlock(devnet);
  valueOf(await devnet.rollback({ slot: FORK * EPOCH - 1 }));
  expect(await parameters()).toEqual(before);
  expect(hash()).toBe(built);
  // the same after a restart: the next block has version 11
  await devnet.stop();
  const again = await start(new VirtualClock(world.clock.now() + 1_000 * EPOCH * (FORK + 1)));
  expect(again.mempool().map(({ transaction }) => transaction.hash)).toEqual([built]);
  await makeBlock(again);
  expect(again.mempool()).toEqual([]);
  expect(await parameters()).toEqual(after);
  await checkRows(world.store);
  const [row] = await world.store.sql<
    { height: bigint }[]
  >`select height from devnet_transaction where hash = ${built!}`;
  expect(Number(row!.height)).toBe(again.tip().height);
});
