/** A database belongs to one network: its magic is written at the first start, and any other is refused later. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Migration } from "#src/store/migrations.ts";
import type { Store } from "#src/store/store.ts";
import { onlyRow } from "#src/store/rows.ts";

export const networkMigrations: readonly Migration[] = [{
  id: "store-1",
  sql: `create table network (one boolean primary key default true check (one), magic bigint not null)`,
}];

/** Claims the database for a network magic; fails when it belongs to another network. */
export async function claimNetwork(store: Store, magic: number): Promise<Result<void, Failure<"other_network">>> {
  await store.sql`insert into network (magic) values (${magic}) on conflict do nothing`;
  const row = await onlyRow(store.sql<{ magic: bigint }[]>`select magic from network`);
  const held = Number(row.magic);
  if (held === magic) return ok(undefined);
  return fail("other_network", `This database belongs to the network with magic ${held}, not to ${magic}.`, {
    held,
    magic,
  });
}
