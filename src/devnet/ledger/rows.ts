/**
 * Reads of the ledger state beside outputs: accounts, pools, stake snapshots, pots, each with the point at which it
 * holds. What is read together is one statement, so it sees one snapshot of the database.
 */
import type { Json } from "#src/base/json.ts";
import type { At } from "#src/chain/provider/port.ts";
import { type OutputRow, tipColumns, tipOf, type TipRow, utxoOf } from "#src/devnet/blocks/rows.ts";
import { fromPlain } from "#src/devnet/ledger/plainJson.ts";
import { type EntryKind, rowValue, type RowValues } from "#src/devnet/ledger/rowValues.ts";
import type { SnapshotCache } from "#src/devnet/ledger/snapshotCache.ts";
import { stakeOf } from "#src/ledger/epoch/snapshot.ts";
import type { Account, Pool, Pots, StakeSnapshot } from "#src/ledger/state.ts";
import type { Queries } from "#src/store/store.ts";

/** The ledger's epoch: its number, pots, stake snapshots by epoch, and blocks produced, by `blocksKey`. */
export interface EpochRows {
  readonly epoch: number;
  readonly pots: Pots;
  readonly snapshots: ReadonlyMap<string, StakeSnapshot>;
  readonly blocks: ReadonlyMap<string, number>;
  readonly pools: ReadonlyMap<string, Pool>;
}

/**
 * The epoch of the newest block, and the data for distributions and rewards. `snapshots` caches stake snapshots between
 * calls.
 */
export async function readEpoch(sql: Queries, snapshots: SnapshotCache): Promise<At<EpochRows>> {
  for (;;) {
    const rows = await sql<(TipRow & { kind: EntryKind | null; key: string; version: string; value: Json })[]>`
      select tip.*, kind, key, devnet_entry.xmin::text as version, case when kind = 'snapshots' then null else value end as value
      from ${tipColumns(sql)} left join devnet_entry on kind in ('epoch', 'pots', 'snapshots', 'blocks', 'pools')`;
    const kept = await snapshots.of(sql, rows.filter(({ kind }) => kind === "snapshots"));
    // an epoch began between the two statements
    if (!kept) continue;
    const { slot, hash } = tipOf(rows[0]);
    const of = <Kind extends EntryKind>(kind: Kind): Map<string, RowValues[Kind]> =>
      new Map(rows.filter((row) => row.kind === kind).map(({ key, value }) => [key, rowValue(kind, fromPlain(value))]));
    return {
      point: { slot, hash },
      value: {
        epoch: of("epoch").get("") ?? 0,
        pots: of("pots").get("") ?? { treasury: 0n, reserves: 0n, fees: 0n, deposits: 0n, donations: 0n },
        snapshots: new Map(kept.map(({ key, after }) => [key, rowValue("snapshots", after)])),
        blocks: of("blocks"),
        pools: of("pools"),
      },
    };
  }
}

/** The row of the protocol parameters, and its version, which tells whether it changed; undefined before they first change. */
export async function readParametersRow(
  sql: Queries,
): Promise<At<{ readonly version: string; readonly value: Json } | undefined>> {
  const [row] = await sql<(TipRow & { version: string | null; value: Json })[]>`
    select tip.*, entry.version, entry.value from ${tipColumns(sql)}
      left join (select xmin::text as version, value from devnet_entry where kind = 'parameters') as entry on true`;
  const { slot, hash } = tipOf(row);
  const { version = null, value = null } = row ?? {};
  return { point: { slot, hash }, value: version === null ? undefined : { version, value } };
}

/** An account and its stake. */
interface AccountStake {
  /** Undefined if it is not registered. */
  readonly account: Account | undefined;
  /** Lovelace of its unspent outputs, without rewards. */
  readonly outputs: bigint;
}

/** The account and stake of a credential, by its `credentialKey`. */
export async function readAccountStake(sql: Queries, key: string): Promise<At<AccountStake>> {
  const rows = await sql<(TipRow & OutputRow & { account: Json })[]>`
    select * from ${tipColumns(sql)}
      left join (select value as account from devnet_entry where kind = 'accounts' and key = ${key}) as entry on true
      left join devnet_utxo on spent_height is null and substr(address, 59) = ${key.slice(1)}`;
  const { slot, hash } = tipOf(rows[0]);
  const found = rows.filter((row) => row.tx_hash !== null).map((row) => utxoOf(row).output);
  const utxo = { get: () => undefined, outputs: () => found };
  const plain = rows[0]?.account ?? null;
  const account = plain === null ? undefined : rowValue("accounts", fromPlain(plain));
  return {
    point: { slot, hash },
    value: { account, outputs: stakeOf({ utxo, accounts: new Map() }, [key]).get(key) ?? 0n },
  };
}
