/**
 * The end of an epoch on a devnet of many accounts, representatives, actions and votes: how long it takes, forth and back,
 * and how long it holds the event loop at most, beside what the same boundary takes in one go.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "#src/base/log.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { applyEpoch, passEpoch } from "#src/ledger/epoch/pass.ts";
import { overlay } from "#src/ledger/state.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { devnetStore } from "../support/devnet/devnet.ts";
import { greatRows } from "../support/devnet/greatDevnet.ts";
import { table } from "./machine.ts";
import { benchDevnetOf } from "./benchDevnet.ts";

const GREATNESS = { accounts: 100_000, dreps: 1_000, proposals: 500, votes: 600 };
/** Boundaries that are measured; at the second one a third of the actions ends, with their votes. */
const BOUNDARIES = 4;

/** The time of some work, and the longest hold of the event loop meanwhile, in ms. */
interface Held {
  readonly ms: number;
  readonly longest: number;
  readonly over20: number;
}

/** Measures by a timer of a millisecond; whatever else the machine does counts too. */
async function held(work: () => Promise<unknown>): Promise<Held> {
  const gaps: number[] = [];
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    gaps.push(now - last);
    last = now;
  }, 1);
  const began = performance.now();
  await work();
  const ms = performance.now() - began;
  clearInterval(timer);
  gaps.push(performance.now() - last);
  return { ms, longest: Math.max(...gaps), over20: gaps.filter((gap) => gap > 20).length };
}

/** Prints the table. */
export async function benchDevnetEpoch(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-bench-"));
  const postgres = await startPostgres({ folder, log: silentLog });
  const nats = await startNatsEndpoint({ port: 0, token: "bench", log: silentLog });
  const bus = await connectBus({ url: nats.url, token: "bench" });
  const store = await devnetStore(postgres.url);
  const start = () => benchDevnetOf({ store, bus, epochLength: 100, pools: 20 });
  const rows: (readonly (string | number)[])[] = [];
  const add = (what: string, { ms, longest, over20 }: Held) =>
    rows.push([what, ms.toFixed(0), longest.toFixed(1), over20]);

  await (await start()).stop();
  await greatRows(store, GREATNESS);
  const devnet = await start();
  const { terms } = devnet.genesis;
  const done = <T extends { readonly ok: boolean }>(result: T) => {
    if (!result.ok) throw new Error("the devnet refused");
  };
  for (let boundary = 1; boundary <= BOUNDARIES; boundary++) {
    await devnet.makeBlocks({ count: 5 });
    const atOnce = await held(async () => {
      await devnet.query((state) => applyEpoch(overlay(state), passEpoch(state, terms)));
    });
    add(`${boundary}: computed in one go`, atOnce);
    const forth = await held(async () => done(await devnet.enterNextEpoch()));
    add(`${boundary}: forth`, forth);
    add(`${boundary}: back`, await held(async () => done(await devnet.rollback({ blocks: 1 }))));
    add(`${boundary}: forth again`, await held(async () => done(await devnet.enterNextEpoch())));
  }
  const { accounts, dreps, proposals, votes } = GREATNESS;
  console.log(`${accounts} accounts, ${dreps} representatives, ${proposals} actions with ${votes} votes each`);
  const head = ["boundary", "ms", "longest hold of the event loop, ms", "holds over 20 ms"];
  for (const line of table(head, rows)) console.log(line);
  await devnet.stop();
  await store.close();
  await bus.close();
  await nats.stop();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
}
