/**
 * A follower of the devnet in DATABASE_URL with pockets, in its own process; it kills itself, as by kill -9, at the
 * n-th step of a name (KILL=`<step>:<n>`), or otherwise ends once every pocket is read along with all others at the
 * devnet's tip.
 */
import process from "node:process";
import { sleep } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { Follower } from "#src/chain/index/follower.ts";
import { transactionProjection } from "#src/chain/index/transactions.ts";
import { utxoProjection } from "#src/chain/index/utxo.ts";
import { readTip } from "#src/devnet/blocks/rows.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { openStore } from "#src/store/store.ts";
import { pocketProjection } from "./restoredProjection.ts";

const { DATABASE_URL = "", NATS_URL = "", NATS_TOKEN, KILL = "" } = process.env;
const [at, count] = KILL.split(":");
let left = Number(count);

const store = openStore(DATABASE_URL, { max: 6 });
const bus = await connectBus({ url: NATS_URL, ...(NATS_TOKEN ? { token: NATS_TOKEN } : {}) });
const follower = new Follower({
  store,
  port: devnetPort({ store, bus, log: silentLog, pollMs: 50 }),
  projections: [transactionProjection, utxoProjection, pocketProjection],
  fence: async () => {},
  append: async () => {},
  ring: () => {},
  log: silentLog,
  near: 0,
  keepBlocks: 10,
  onStep: (step) => {
    if (step === at && --left === 0) process.kill(process.pid, "SIGKILL");
  },
});
const stop = new AbortController();
const running = follower.run(stop.signal);
for (;;) {
  const [restoring] = await store.sql`select 1 from chain_member where cursor is distinct from 'main' limit 1`;
  const { at } = await readCursor(store.sql);
  if (!restoring && at.hash === (await readTip(store.sql)).hash) break;
  await sleep(20);
}
stop.abort();
await running;
await bus.close();
await store.close();
