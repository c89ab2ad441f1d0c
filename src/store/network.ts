/** A database belongs to one network: its magic is written at the first start, and any other is refused later. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Store } from "#src/store/store.ts";

/** The magic of the network that the database belongs to; `undefined` before the first claim. */
export async function readClaim(store: Store): Promise<number | undefined> {
  const [row] = await store.sql<{ magic: bigint }[]>`select magic from network`;
  return row && Number(row.magic);
}

/** Claims the database for a network magic; fails when it belongs to another network. */
export async function claimNetwork(store: Store, magic: number): Promise<Result<void, Failure<"other_network">>> {
  await store.sql`insert into network (magic) values (${magic}) on conflict do nothing`;
  const held = await readClaim(store);
  if (held === magic) return ok(undefined);
  return fail("other_network", `This database belongs to the network with magic ${held}, not to ${magic}.`, {
    held,
    magic,
  });
}
