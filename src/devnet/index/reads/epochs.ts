/** Reads of the index: epochs. Each function is one statement. */
import type { Json } from "#src/base/json.ts";
import { limits, type Page } from "#src/devnet/index/reads/page.ts";
import type { Queries } from "#src/store/store.ts";

/** An epoch and its blocks. */
export interface EpochSummary {
  readonly epoch: number;
  readonly blocks: number;
  readonly transactions: number;
  /** Slots of its first and its last block. */
  readonly first: number;
  readonly last: number;
  /** Lovelace of all outputs, and of all fees. */
  readonly output: bigint;
  readonly fees: bigint;
  /** Stake that counts for block production; undefined: none. */
  readonly activeStake: bigint | undefined;
}

interface EpochRow {
  readonly epoch: number;
  readonly blocks: bigint;
  readonly transactions: bigint;
  readonly first: bigint;
  readonly last: bigint;
  readonly output: string | null;
  readonly fees: string | null;
  readonly active_stake: bigint | null;
}

/** Which epochs: one, or those with numbers from `from` to `to`, both inclusive; undefined: the last one with a block. */
export type EpochChoice = { readonly from: number; readonly to: number } | undefined;

/** Epochs with blocks, in ascending order. */
export async function readEpochs(sql: Queries, choice: EpochChoice): Promise<EpochSummary[]> {
  const chosen = choice
    ? sql`of.epoch between ${choice.from} and ${choice.to}`
    : sql`of.epoch = (select epoch from devnet_index_block order by height desc limit 1)`;
  const rows = await sql<EpochRow[]>`
    select of.epoch, count(*) as blocks, sum(block.transactions)::bigint as transactions,
      min(block.slot) as first, max(block.slot) as last, sum(of.output)::text as output, sum(of.fees)::text as fees,
      epoch.active_stake
    from devnet_index_block of join devnet_block block using (height) left join devnet_index_epoch epoch on epoch.epoch = of.epoch
    where ${chosen} group by of.epoch, epoch.active_stake order by of.epoch`;
  return rows.map((row) => ({
    epoch: row.epoch,
    blocks: Number(row.blocks),
    transactions: Number(row.transactions),
    first: Number(row.first),
    last: Number(row.last),
    output: BigInt(row.output ?? 0),
    fees: BigInt(row.fees ?? 0),
    activeStake: row.active_stake ?? undefined,
  }));
}

/** Whether an epoch has begun. */
export async function epochExists(sql: Queries, epoch: number): Promise<boolean> {
  return (await sql`select 1 from devnet_index_epoch where epoch = ${epoch}`).length > 0;
}

/** The parameters of an epoch that has begun, or of the last one, as `parametersToJson` wrote them. */
export async function readEpochParameters(
  sql: Queries,
  epoch: number | undefined,
): Promise<{ readonly epoch: number; readonly parameters: Json } | undefined> {
  const [row] = await sql<{ epoch: number; parameters: Json }[]>`
    select epoch, parameters from devnet_index_epoch
    where ${epoch === undefined ? sql`true` : sql`epoch = ${epoch}`} order by epoch desc limit 1`;
  return row;
}

/** Stake of an account that counts for block production of a pool. */
export interface StakeRow {
  readonly credential: string;
  readonly pool: string;
  readonly lovelace: bigint;
}

/** Stake in an epoch, ordered by pool and account; of one pool, or of all. */
export async function readEpochStakes(
  sql: Queries,
  epoch: number,
  pool: string | undefined,
  page: Page,
): Promise<StakeRow[]> {
  const ofPool = pool === undefined ? sql`true` : sql`pool = ${pool}`;
  return await sql<StakeRow[]>`
    select credential, pool, lovelace from devnet_index_stake where epoch = ${epoch} and ${ofPool}
    order by pool, credential ${limits(sql, page)}`;
}

/** Hashes of blocks, in their order; of one epoch or of all, of one pool or of all. */
export async function readBlockHashes(
  sql: Queries,
  { epoch, pool }: { readonly epoch?: number; readonly pool?: string | undefined },
  page: Page,
): Promise<string[]> {
  const rows = await sql<{ hash: string }[]>`
    select block.hash from devnet_index_block of join devnet_block block using (height)
    where ${epoch === undefined ? sql`true` : sql`of.epoch = ${epoch}`}
      and ${pool === undefined ? sql`true` : sql`of.pool = ${pool}`}
    order by of.height ${page.order === "desc" ? sql`desc` : sql`asc`} ${limits(sql, page)}`;
  return rows.map(({ hash }) => hash);
}
