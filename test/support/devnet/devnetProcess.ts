/**
 * A devnet in a process of its own that kills itself, as by kill -9, at the n-th statement after its start (KILL_AT; 0:
 * never).
 *
 * It executes a list of steps that is the same for the same SEED and prints each acknowledged step, as one line of
 * JSON.
 */
import process from "node:process";
import { VirtualClock } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { startDevnet } from "#src/devnet/devnet.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { seeded } from "../base/seededRandom.ts";
import { person } from "../wallets/person.ts";

const { DATABASE_URL = "", NATS_URL = "", NATS_TOKEN, KILL_AT = "0", SEED = "1", START = "0" } = process.env;
const say = (line: unknown) => process.stdout.write(JSON.stringify(line) + "\n");
let left = Number(KILL_AT);

function step(): void {
  if (left > 0 && --left === 0) process.kill(process.pid, "SIGKILL");
}

/** The store, with a step before each statement inside transactions and before their commit. */
function mortal(store: Store): Store {
  const counted = <T extends object>(sql: T): T =>
    new Proxy(sql, {
      apply(target, self, args) {
        step();
        return Reflect.apply(target as unknown as (...args: unknown[]) => unknown, self, args);
      },
    });
  const sql = new Proxy(store.sql, {
    get(target, name) {
      if (name !== "begin") return Reflect.get(target, name);
      return async (work: (sql: never) => Promise<unknown>) => {
        step();
        const result = await target.begin(async (inner) => {
          const done = await work(counted(inner) as never);
          step();
          return done;
        });
        step();
        return result;
      };
    },
  });
  return { ...store, sql };
}

const store = openStore(DATABASE_URL, { max: 3 });
const bus = await connectBus({ url: NATS_URL, ...(NATS_TOKEN ? { token: NATS_TOKEN } : {}) });
const started = await startDevnet({
  store: mortal(store),
  bus,
  evaluate: () => Promise.reject(new Error("no script was expected")),
  log: silentLog,
  clock: new VirtualClock(1_800_000_000_000 + Number(START) * 60_000),
  // Each start is minutes later than the last one, so that blocks end epochs.
  options: { blockMs: 0, leaseMs: 5_000, epochLength: 50 },
});
if (!started.ok) throw new Error(started.error.message);
const devnet = started.value;
say({ did: "start", tip: devnet.tip() });
const random = seeded(Number(SEED));
const people = ["alice", "bob"].map(person);
for (let i = 0; i < 12; i++) {
  const choice = random();
  if (choice < 0.5) {
    const paid = await devnet.faucet.pay(people[i % 2]!.enterprise, 2_000_000n + BigInt(i));
    if (paid.ok) say({ did: "pay", hash: paid.value.txHash });
  } else if (choice < 0.8) {
    const made = await devnet.makeBlock();
    if (made.ok) say({ did: "block", tip: made.value });
  } else if (choice < 0.86) {
    await devnet.snapshots.save("saved", { replace: true });
  } else if (choice < 0.92) {
    // payments after the save are gone once it is done, acknowledged or not
    say({ did: "restoring" });
    const done = await devnet.snapshots.restore("saved");
    if (done.ok) say({ did: "restore", tip: done.value });
  } else {
    const blocks = Math.min(2, devnet.tip().height + 1);
    const done = await devnet.rollback({ blocks });
    if (done.ok) say({ did: "rollback", tip: done.value });
  }
}
say({ did: "all" });
await devnet.stop();
await bus.close();
await store.close();
