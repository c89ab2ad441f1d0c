/** The block after which a new wallet is read. */
import { origin, type Point } from "#src/cardano/block.ts";
import { isKeptPoint, readCursor } from "#src/chain/index/cursor.ts";
import { isOnChain } from "#src/chain/provider/isOnChain.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { WalletBody } from "#src/wallets/api/wallets.ts";
import { HttpFailure } from "#src/http/failure.ts";
import type { Store } from "#src/store/store.ts";

/** Longest wait for the network, in milliseconds. */
const LOOK_MS = 10_000;

/** The block of a restoration mode; throws 404 for one that is not on the chain. */
export async function startPointOf(
  mode: WalletBody["restoration_mode"],
  { store, port }: { store: Store; port: ChainPort },
): Promise<Point> {
  if (mode === "from_genesis") return origin;
  if (mode === "from_tip") {
    const { at } = await readCursor(store.sql);
    return { slot: at.slot, hash: at.hash };
  }
  const point = { slot: mode.absolute_slot_number, hash: mode.block_header_hash };
  if (await isKeptPoint(store.sql, point) || await isOnChain(port, point, LOOK_MS)) return point;
  throw new HttpFailure(
    404,
    "unexpected_error",
    `Restoration from a given block failed. The block at slot number ${point.slot} and hash ${point.hash} does not exist.`,
  );
}
