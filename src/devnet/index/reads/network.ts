/** Sums over the whole network. */
import { onlyRow } from "#src/store/rows.ts";
import type { Queries } from "#src/store/store.ts";

/** Lovelace in the network. */
export interface NetworkSums {
  /** Pots at the beginning of the current epoch. */
  readonly reserves: bigint;
  readonly treasury: bigint;
  /** In unspent outputs, and in accounts that can withdraw it. */
  readonly circulating: bigint;
  /** In unspent outputs at scripts. */
  readonly locked: bigint;
  /** That counts for block production in the current epoch. */
  readonly active: bigint;
}

interface SumsRow {
  readonly pots: { readonly reserves: number | bigint; readonly treasury: number | bigint };
  readonly active_stake: bigint | null;
  readonly outputs: string;
  readonly locked: string;
  readonly balances: string;
}

/** Reads the sums in one statement. */
export async function readNetworkSums(sql: Queries): Promise<NetworkSums> {
  const row = await onlyRow(sql<SumsRow[]>`
    with account as (
      select (value -> 'balance' ->> 'int')::numeric as balance from devnet_entry where kind = 'accounts'),
    unspent as (select payment, lovelace from devnet_index_output where spent_height is null)
    select e.pots, e.active_stake,
      (select coalesce(sum(lovelace), 0)::text from unspent) as outputs,
      (select coalesce(sum(lovelace), 0)::text from unspent where payment like 's%') as locked,
      (select coalesce(sum(balance), 0)::text from account) as balances
    from devnet_index_epoch e order by e.epoch desc limit 1`);
  return {
    reserves: BigInt(row.pots.reserves),
    treasury: BigInt(row.pots.treasury),
    circulating: BigInt(row.outputs) + BigInt(row.balances),
    locked: BigInt(row.locked),
    active: row.active_stake ?? 0n,
  };
}
