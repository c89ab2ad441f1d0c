/**
 * Reads of the index: stake pools, by their ids in hexadecimal. Each function is one statement.
 *
 * Live stake is what the accounts that delegate to a pool hold now, whether or not it counts for block production already. A
 * pool counts as registered until the epoch of its retirement begins.
 */
import { accountStakes } from "#src/devnet/index/reads/accounts.ts";
import { direction, limits, type Page } from "#src/devnet/index/reads/page.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

const currentEpoch = (sql: Queries): Fragment => sql`(select max(epoch) from devnet_index_epoch)`;

/** Rows `(pool, first, cbor, retires, announced)`: the first and the last registration, and the retirement announced since. */
function poolStates(sql: Queries): Fragment {
  const certificates = (kind: Fragment, order: Fragment) =>
    sql`
    select distinct on (pool) pool, cbor, epoch, array[height, tx_index, cert_index, part] as place
    from devnet_index_certificate where kind = ${kind}
    order by pool, height ${order}, tx_index ${order}, cert_index ${order}, part ${order}`;
  return sql`
    select last.pool, first.place as first, last.cbor,
      case when retirement.place > last.place then retirement.epoch end as retires, retirement.place as announced
    from (${certificates(sql`'pool'`, sql`desc`)}) last
    join (${certificates(sql`'pool'`, sql`asc`)}) first on first.pool = last.pool
    left join (${certificates(sql`'retire'`, sql`desc`)}) retirement on retirement.pool = last.pool`;
}

/** Rows `(pool, credential, place, lovelace)`: what each registered account delegates to a pool. */
const liveStakes = (sql: Queries): Fragment =>
  sql`select pool, credential, delegation_place as place, lovelace from (${
    accountStakes(sql)
  }) of where pool is not null`;

/** Whether a certificate on the chain names a pool. */
export async function poolExists(sql: Queries, pool: string): Promise<boolean> {
  return (await sql`select 1 from devnet_index_certificate where pool = ${pool} limit 1`).length > 0;
}

/** Ids of registered pools in the order of their first registrations. */
export async function readPoolIds(sql: Queries, page: Page): Promise<string[]> {
  const rows = await sql<{ pool: string }[]>`
    select pool from (${poolStates(sql)}) state where retires is null or retires > ${currentEpoch(sql)}
    order by first ${direction(sql, page)} ${limits(sql, page)}`;
  return rows.map(({ pool }) => pool);
}

/** Pools that have retired, or that will retire, by epoch and announcement. */
export async function readRetirements(
  sql: Queries,
  when: "past" | "future",
  page: Page,
): Promise<{ pool: string; epoch: number }[]> {
  const order = direction(sql, page);
  return await sql<{ pool: string; epoch: number }[]>`
    select pool, retires as epoch from (${poolStates(sql)}) state
    where retires ${when === "past" ? sql`<=` : sql`>`} ${currentEpoch(sql)}
    order by retires ${order}, announced ${order} ${limits(sql, page)}`;
}

/** The last registration of a pool. */
interface PoolCertificate {
  readonly pool: string;
  readonly cbor: Uint8Array;
}

/** The last registrations of some pools. */
export async function readPoolCertificates(sql: Queries, pools: readonly string[]): Promise<PoolCertificate[]> {
  const rows = await sql<PoolCertificate[]>`
    select distinct on (pool) pool, cbor from devnet_index_certificate
    where kind = 'pool' and pool = any(${sql.array([...pools])})
    order by pool, height desc, tx_index desc, cert_index desc, part desc`;
  return rows.map((row) => ({ ...row, cbor: new Uint8Array(row.cbor) }));
}

/** Figures of a pool. Amounts are lovelace. */
export interface PoolFigures {
  readonly pool: string;
  readonly blocks: number;
  /** In the current epoch. */
  readonly blocksInEpoch: number;
  /** Counts for block production in the current epoch. */
  readonly activeStake: bigint;
  readonly liveStake: bigint;
  readonly delegators: number;
}

/** Sums over all pools. */
export interface PoolTotals {
  readonly activeStake: bigint;
  readonly liveStake: bigint;
  /** Lovelace in outputs and accounts. */
  readonly circulation: bigint;
  /** How many pools there should be (`nOpt`). */
  readonly desiredPools: number;
}

/** Figures of some pools, and the sums that they are compared with. */
export async function readPoolFigures(
  sql: Queries,
  pools: readonly string[],
): Promise<{ readonly figures: readonly PoolFigures[]; readonly totals: PoolTotals }> {
  const rows = await sql<{
    pool: string | null;
    blocks: bigint;
    blocks_in_epoch: bigint;
    active: string | null;
    live: string | null;
    delegators: bigint | null;
    all_active: string | null;
    all_live: string | null;
    circulation: string;
    desired: number;
  }[]>`
    with live as materialized (${liveStakes(sql)}),
      registered as materialized (
        select pool from (${poolStates(sql)}) state where retires is null or retires > ${currentEpoch(sql)}),
      by_pool as (select pool, sum(lovelace) as lovelace, count(*) as delegators from live group by pool)
    select chosen.pool,
      (select count(*) from devnet_index_block where pool = chosen.pool) as blocks,
      (select count(*) from devnet_index_block where pool = chosen.pool and epoch = ${
    currentEpoch(sql)
  }) as blocks_in_epoch,
      (select sum(lovelace)::text from devnet_index_stake where pool = chosen.pool and epoch = ${
    currentEpoch(sql)
  }) as active,
      case when chosen.pool in (select pool from registered) then by_pool.lovelace::text end as live, by_pool.delegators,
      (select sum(lovelace)::text from devnet_index_stake where epoch = ${currentEpoch(sql)}) as all_active,
      (select sum(lovelace)::text from live where pool in (select pool from registered)) as all_live,
      (coalesce((select sum(lovelace) from devnet_index_output where spent_height is null), 0)
        + coalesce((select sum(amount) from devnet_index_reward where paid), 0)
        - coalesce((select sum(amount) from devnet_index_withdrawal), 0))::text as circulation,
      (select (parameters->>'desiredPools')::int from devnet_index_epoch order by epoch desc limit 1) as desired
    from (select 1) as always left join unnest(${
    sql.array([...pools])
  }::text[]) with ordinality as chosen (pool, place) on true
    left join by_pool on by_pool.pool = chosen.pool order by chosen.place`;
  const [first] = rows;
  return {
    figures: rows.flatMap(({ pool, blocks, blocks_in_epoch, active, live, delegators }) =>
      pool === null ? [] : [{
        pool,
        blocks: Number(blocks),
        blocksInEpoch: Number(blocks_in_epoch),
        activeStake: BigInt(active ?? 0),
        liveStake: BigInt(live ?? 0),
        delegators: Number(delegators ?? 0n),
      }]
    ),
    totals: {
      activeStake: BigInt(first?.all_active ?? 0),
      liveStake: BigInt(first?.all_live ?? 0),
      circulation: BigInt(first?.circulation ?? 0),
      desiredPools: first?.desired ?? 1,
    },
  };
}

/** What some accounts delegate to a pool. */
export async function readLivePledge(sql: Queries, pool: string, owners: readonly string[]): Promise<bigint> {
  const [row] = await sql<{ lovelace: string | null }[]>`
    select sum(lovelace)::text as lovelace from (${liveStakes(sql)}) live
    where pool = ${pool} and credential = any(${sql.array([...owners])})`;
  return BigInt(row?.lovelace ?? 0);
}

/** Accounts that delegate to a pool in the order of their delegations, and their lovelace. */
export async function readDelegators(
  sql: Queries,
  pool: string,
  page: Page,
): Promise<{ credential: string; lovelace: string }[]> {
  const order = direction(sql, page);
  return await sql<{ credential: string; lovelace: string }[]>`
    select credential, lovelace::text as lovelace from (${liveStakes(sql)}) live where pool = ${pool}
    order by place ${order}, credential ${order} ${limits(sql, page)}`;
}

/** A registration (also one that changes the pool) or an announced retirement of a pool. */
export interface PoolUpdateRow {
  readonly tx_hash: string;
  readonly cert_index: number;
  readonly kind: "pool" | "retire";
}

/** Registrations and retirements of a pool in the order of the chain. */
export async function readPoolUpdates(sql: Queries, pool: string, page: Page): Promise<PoolUpdateRow[]> {
  const order = direction(sql, page);
  return await sql<PoolUpdateRow[]>`
    select tx_hash, cert_index, kind from devnet_index_certificate where pool = ${pool} and kind in ('pool', 'retire')
    order by height ${order}, tx_index ${order}, cert_index ${order} ${limits(sql, page)}`;
}

/** A pool in an epoch that has ended. */
export interface PoolEpochRow {
  readonly epoch: number;
  readonly blocks: bigint;
  readonly delegators: bigint;
  readonly stake: string;
  readonly all_stake: string;
  /** Lovelace of all rewards that were paid for the epoch. */
  readonly rewards: string;
  /** The registration that held in the epoch; null: none counted yet. */
  readonly cbor: Uint8Array | null;
}

/** Epochs before the current one in which a pool had stake, in their order. */
export async function readPoolHistory(sql: Queries, pool: string, page: Page): Promise<PoolEpochRow[]> {
  return await sql<PoolEpochRow[]>`
    select stake.epoch, count(*) as delegators, sum(stake.lovelace)::text as stake,
      (select count(*) from devnet_index_block where pool = ${pool} and epoch = stake.epoch) as blocks,
      (select sum(lovelace)::text from devnet_index_stake where epoch = stake.epoch) as all_stake,
      coalesce((
        select sum(amount)::text from devnet_index_reward
        where pool = ${pool} and earned = stake.epoch and kind <> 'pool_deposit_refund' and paid), '0') as rewards,
      (select cbor from devnet_index_certificate c where c.pool = ${pool} and c.kind = 'pool' and c.epoch <= stake.epoch
        order by height desc, tx_index desc, cert_index desc limit 1) as cbor
    from devnet_index_stake stake where stake.pool = ${pool} and stake.epoch < ${currentEpoch(sql)}
    group by stake.epoch order by stake.epoch ${direction(sql, page)} ${limits(sql, page)}`;
}
