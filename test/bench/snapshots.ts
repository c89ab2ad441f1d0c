/**
 * Benchmark of the devnet's snapshots: save and restore in a devnet of 10,000 blocks and 100,000 outputs, with the
 * smallest and the largest difference; on a real database.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { silentLog } from "#src/base/log.ts";
import { DevnetChain } from "#src/devnet/blocks/chain.ts";
import { LEASE } from "#src/devnet/blocks/lease.ts";
import { MiningControl, miningOf } from "#src/devnet/blocks/mining.ts";
import { createGenesis, genesisDefaults } from "#src/devnet/genesis/genesis.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { validate } from "#src/ledger/validate.ts";
import { devnetStore } from "../support/devnet/devnet.ts";
import { person } from "../support/wallets/person.ts";
import { table } from "./machine.ts";

const quick = process.argv.includes("--quick");
const BLOCKS = quick ? 1_000 : 10_000;
/** One block in so many holds a transaction. */
const EVERY = 5;
/** Outputs of a transaction; with its change, 100,000 in all. */
const OUTPUTS = 49;
const RUNS = 3;
const alice = person("alice").base;

/** Prints the table. */
export async function benchSnapshots(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-bench-"));
  const postgres = await startPostgres({ folder, log: silentLog });
  const store = await devnetStore(postgres.url);
  await store
    .sql`insert into lease (name, epoch, checked, owner, expires) values (${LEASE}, 1, 1, 'bench', now() + interval '1 day')`;
  const genesis = await store.sql.begin((sql) => createGenesis(sql, { ...genesisDefaults, genesisTime: 0 }));
  const slots = { zeroTime: 0, zeroSlot: 0, slotLength: 1_000 };
  let slot = 0;
  const chain = await DevnetChain.open({
    store,
    epoch: 1,
    genesis,
    pastHorizon: true,
    judge: (state, { cbor }, at) => validate(state, cbor, at, () => Promise.reject(new Error("no script")), slots),
    mempoolBytes: 4_000_000,
    index: true,
    utxoRoot: true,
    slot: () => slot,
    now: () => slot * 1_000,
    mining: new MiningControl(miningOf({ blockMs: 0 })),
    announce: () => {},
    log: silentLog,
  });
  const forge = async () => {
    if (!await chain.forge(++slot)) throw new Error("no block was made");
  };
  /** Makes blocks; gives milliseconds a block. */
  const grow = async (blocks: number) => {
    const began = performance.now();
    for (let i = 0; i < blocks; i++) {
      if (i % EVERY === 0) {
        const paid = await chain.pay(Array.from({ length: OUTPUTS }, () => ({ address: alice, lovelace: 2_000_000n })));
        if (!paid.ok) throw new Error(paid.error.message);
      }
      await forge();
    }
    return (performance.now() - began) / blocks;
  };
  const rows: string[][] = [];
  /** Milliseconds of some work, repeatedly; `before` is not counted. */
  const measure = async (what: string, work: () => Promise<{ ok: boolean }>, before = async () => {}) => {
    const times: number[] = [];
    for (let i = 0; i < RUNS; i++) {
      await before();
      const began = performance.now();
      if (!(await work()).ok) throw new Error(`${what} failed`);
      times.push(performance.now() - began);
    }
    times.sort((a, b) => a - b);
    rows.push([what, times[RUNS >> 1]!.toFixed(0), times.at(-1)!.toFixed(0)]);
    process.stderr.write(`${what}: ${times.map((ms) => ms.toFixed(0)).join(" ")} ms\n`);
  };

  await forge();
  await chain.saveSnapshot("beginning", { replace: false });
  const plain = await grow(BLOCKS);
  const [outputs] = await store.sql<{ count: number }[]>`select count(*)::int as count from devnet_utxo`;
  await measure("save", () => chain.saveSnapshot("full", { replace: true }));
  await measure("restore, no difference", () => chain.restoreSnapshot("full"));
  await measure("restore, 1 block to undo", () => chain.restoreSnapshot("full"), () => grow(1).then(() => {}));
  await measure("restore, 10 blocks to undo", () => chain.restoreSnapshot("full"), () => grow(10).then(() => {}));
  await measure("restore, 100 blocks to undo", () => chain.restoreSnapshot("full"), () => grow(100).then(() => {}));
  await grow(10);
  await chain.saveSnapshot("near", { replace: false });
  await chain.restoreSnapshot("full");
  await grow(10);
  await chain.saveSnapshot("other", { replace: false });
  await measure(
    "restore onto another fork, 10 blocks to undo and 10 to append",
    () => chain.restoreSnapshot("near"),
    async () => void await chain.restoreSnapshot("other"),
  );
  await measure(
    `restore, ${BLOCKS.toLocaleString("en")} blocks to undo`,
    () => chain.restoreSnapshot("beginning"),
    async () => void await chain.restoreSnapshot("full"),
  );
  await measure(
    `restore, ${BLOCKS.toLocaleString("en")} blocks to append`,
    () => chain.restoreSnapshot("full"),
    async () => void await chain.restoreSnapshot("beginning"),
  );
  for (const name of ["near", "other"]) await chain.deleteSnapshot(name);
  await chain.restoreSnapshot("beginning");
  const began = performance.now();
  await chain.deleteSnapshot("full");
  const ms = (performance.now() - began).toFixed(0);
  rows.push(["delete, with these blocks beside the chain", ms, ms]);
  console.log(
    `${BLOCKS.toLocaleString("en")} blocks, ${outputs!.count.toLocaleString("en")} outputs; ` +
      `${plain.toFixed(1)} ms a block`,
  );
  for (const line of table(["snapshots", "median ms", "worst ms"], rows)) console.log(line);
  await store.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
