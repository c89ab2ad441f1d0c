/** Checks of what a process depends on. */
import { readCursor } from "#src/chain/index/cursor.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import type { Check } from "#src/http/health.ts";
import type { Lease } from "#src/runtime/placement/namedLease.ts";
import type { Failure } from "#src/base/result.ts";
import type { Worker } from "#src/runtime/worker.ts";
import type { Store } from "#src/store/store.ts";

/** Most blocks that a ready follower is behind the network's tip. */
const MOST_BEHIND = 10;

const notReady = (why: string): Check => ({ ready: false, why });
const ready = (says?: string): Check => says === undefined ? { ready: true } : { ready: true, says };

/** A provider of the network is ready when it gives its tip. */
export async function tipCheck(port: Pick<ChainPort, "tip">): Promise<Check> {
  const tip = await port.tip();
  return tip.ok ? ready(`at height ${tip.value.height}`) : notReady(tip.error.message);
}

/** A worker is ready when it owns a partition. */
export async function workerCheck(worker: Worker): Promise<Check> {
  const { owned } = worker.state();
  return owned.length === 0 ? notReady("no partition is served here") : ready(`${owned.length} partitions are served`);
}

/** A follower is ready when it is near the tip, or stands by. One that met a block of an unknown era is not. */
export async function followerCheck(
  lease: Lease,
  store: Store,
  halted: () => Failure | undefined,
): Promise<Check> {
  if (lease.epoch() === undefined) return ready("standby");
  const stopped = halted();
  if (stopped) return notReady(`${stopped.code}: ${stopped.message}`);
  const { at, networkTip } = await readCursor(store.sql);
  const behind = networkTip.height - at.height;
  return behind > MOST_BEHIND ? notReady(`${behind} blocks behind the tip`) : ready(`follows, at height ${at.height}`);
}

/** Of several processes with the role, one runs the devnet. */
export async function devnetCheck(devnet: Devnet): Promise<Check> {
  return devnet.runs() ? ready() : notReady("the devnet does not run in this process");
}
