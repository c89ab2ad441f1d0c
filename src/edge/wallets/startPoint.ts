/** From which block on a new wallet is read. */
import { origin, type Point, samePoint } from "#src/cardano/block.ts";
import { isKeptPoint, readCursor } from "#src/chain/index/cursor.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { WalletBody } from "#src/api/wallets/wallets.ts";
import { HttpFailure } from "#src/edge/errors.ts";
import type { Store } from "#src/store/store.ts";

/** How long the network may take to say whether a block is on its chain, in milliseconds. */
const LOOK_MS = 10_000;

/** The block of a restoration mode; throws 404 for one that the chain does not have. */
export async function birthOf(
  mode: WalletBody["restoration_mode"],
  { store, port }: { store: Store; port: ChainPort },
): Promise<Point> {
  if (mode === "from_genesis") return origin;
  if (mode === "from_tip") {
    const { at } = await readCursor(store.sql);
    return { slot: at.slot, hash: at.hash };
  }
  const point = { slot: mode.absolute_slot_number, hash: mode.block_header_hash };
  if (await isKeptPoint(store.sql, point) || await isOnChain(port, point)) return point;
  throw new HttpFailure(404, "unexpected_error", `There is no block ${point.hash} in slot ${point.slot} of the chain.`);
}

/** Whether the network goes on from this block when it is asked to: only blocks of the last hours are known here. */
async function isOnChain(port: ChainPort, point: Point): Promise<boolean> {
  const signal = AbortSignal.timeout(LOOK_MS);
  const steps = port.follow([point], signal)[Symbol.asyncIterator]();
  try {
    const { value, done } = await steps.next();
    return !done && value.type === "backward" && samePoint(value.point, point);
  } finally {
    void steps.return?.().catch(() => {});
  }
}
