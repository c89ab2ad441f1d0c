/**
 * What the ledger knows beside outputs, for whoever reads it: accounts, pools, snapshots of the stake, pots; each with the point of
 * the chain that it holds at. What is read together is one statement, hence one snapshot of the database.
 */
import type { Json } from "#src/base/json.ts";
import type { Point } from "#src/cardano/block.ts";
import { type Output, refKey } from "#src/cardano/output.ts";
import type { At } from "#src/chain/provider/port.ts";
import { type Kind, writeEntries } from "#src/devnet/ledger/changes.ts";
import { type OutputRow, readTip, tipColumns, tipOf, type TipRow, utxoOf } from "#src/devnet/blocks/rows.ts";
import { eachUtxo } from "#src/devnet/blocks/writes.ts";
import { readEntries } from "#src/devnet/ledger/entries.ts";
import { type Genesis, readGenesis } from "#src/devnet/genesis/genesis.ts";
import { fromPlain } from "#src/devnet/ledger/plainJson.ts";
import type { Snapshots } from "#src/devnet/ledger/snapshots.ts";
import { stakeOf } from "#src/ledger/epoch/snapshot.ts";
import {
  type Account,
  type LedgerState,
  newState,
  type Pool,
  type Pots,
  type StakeSnapshot,
} from "#src/ledger/state.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** The ledger in its epochs: which one, the pots, the snapshots of the stake by epoch, blocks made by `blocksKey`. */
export interface EpochRows {
  readonly epoch: number;
  readonly pots: Pots;
  readonly snapshots: ReadonlyMap<string, StakeSnapshot>;
  readonly blocks: ReadonlyMap<string, number>;
  readonly pools: ReadonlyMap<string, Pool>;
}

/**
 * The epoch of the newest block, and what distributions and rewards are reckoned from. `snapshots` keeps what is the same from one call to
 * the next.
 */
export async function readEpoch(sql: Queries, snapshots: Snapshots): Promise<At<EpochRows>> {
  for (;;) {
    const rows = await sql<(TipRow & { kind: Kind | null; key: string; version: string; value: Json })[]>`
      select tip.*, kind, key, devnet_entry.xmin::text as version, case when kind = 'snapshots' then null else value end as value
      from ${tipColumns(sql)} left join devnet_entry on kind in ('epoch', 'pots', 'snapshots', 'blocks', 'pools')`;
    const kept = await snapshots.of(sql, rows.filter(({ kind }) => kind === "snapshots"));
    // an epoch began in between
    if (!kept) continue;
    const { slot, hash } = tipOf(rows[0]);
    const of = <V>(kind: Kind) =>
      new Map(rows.filter((row) => row.kind === kind).map(({ key, value }) => [key, fromPlain(value) as V]));
    return {
      point: { slot, hash },
      value: {
        epoch: of<number>("epoch").get("") ?? 0,
        pots: of<Pots>("pots").get("") ?? { treasury: 0n, reserves: 0n, fees: 0n, deposits: 0n, donations: 0n },
        snapshots: new Map(kept.map(({ key, after }) => [key, after as StakeSnapshot])),
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

/** An account and what stands behind it. */
export interface Standing {
  /** Undefined where it is not registered. */
  readonly account: Account | undefined;
  /** Lovelace of the unspent outputs whose stake it is; rewards are not in it. */
  readonly outputs: bigint;
}

/** What stands behind a stake credential, by its `credentialKey`. */
export async function readStanding(sql: Queries, key: string): Promise<At<Standing>> {
  const rows = await sql<(TipRow & OutputRow & { account: Json })[]>`
    select * from ${tipColumns(sql)}
      left join (select value as account from devnet_entry where kind = 'accounts' and key = ${key}) as entry on true
      left join devnet_utxo on spent_height is null and substr(address, 59) = ${key.slice(1)}`;
  const { slot, hash } = tipOf(rows[0]);
  const found = rows.filter((row) => row.tx_hash !== null).map((row) => utxoOf(row).output);
  const utxo = { get: () => undefined, outputs: () => found };
  const account = fromPlain(rows[0]?.account ?? null) as Account | null;
  return {
    point: { slot, hash },
    value: { account: account ?? undefined, outputs: stakeOf({ utxo, accounts: new Map() }, [key]).get(key) ?? 0n },
  };
}

/**
 * The whole ledger, for what is reckoned from all of it (stake as it is now, what delegating would earn). Reads every output. Undefined
 * while the devnet has not begun.
 */
export function readLedger({ sql }: Store): Promise<(At<LedgerState> & { readonly genesis: Genesis }) | undefined> {
  return sql.begin("isolation level repeatable read read only", async (sql) => {
    const genesis = await readGenesis(sql);
    if (!genesis) return undefined;
    const { parameters, network } = genesis;
    const outputs = new Map<string, Output>();
    await eachUtxo(sql, ({ ref, output }) => outputs.set(refKey(ref), output));
    const state = newState({ parameters, network: network.id, outputs });
    writeEntries(state, await readEntries(sql), "after");
    const { slot, hash } = await readTip(sql);
    const point: Point = { slot, hash };
    return { point, value: state as LedgerState, genesis };
  });
}
