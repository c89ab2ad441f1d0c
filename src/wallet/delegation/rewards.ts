/**
 * Rewards, which are in no block. The network is queried for many accounts at once, for wallets that have caught up
 * with the indexer: once in each epoch, and when a wallet catches up. Withdrawals lower rewards in between
 * (`projection.ts`).
 *
 * The same query gives registration and delegation of an account. They are used where the certificates lie before the
 * blocks that are read, for example for a wallet created at the tip; where certificates were read, only those count.
 */
import { mustGet } from "#src/base/maps.ts";
import { elementAt } from "#src/base/present.ts";
import type { Credential } from "#src/cardano/address.ts";
import type { Point, ScannedBlock } from "#src/cardano/block.ts";
import { drepKey } from "#src/cardano/drepText.ts";
import type { Rows, Touched } from "#src/cardano/projection.ts";
import type { DRep } from "#src/cardano/certificates.ts";
import type { Fragment, Queries } from "#src/store/store.ts";
import { type EpochOf, withdrawalsOf } from "#src/wallet/delegation/projection.ts";
import { wholeStateEvent } from "#src/wallet/delegation/accountFacts.ts";
import { ownedCredential, parseCredential } from "#src/wallet/index/credential.ts";

/** An account as the network reports it. Amounts are lovelace. */
interface ReportedAccount {
  readonly credential: Credential;
  readonly registered: boolean;
  /** Rewards that are not withdrawn. */
  readonly rewards: bigint;
  readonly deposit: bigint | undefined;
  readonly pool: string | undefined;
  readonly drep: DRep | undefined;
}

/** Wallets that have caught up, as a table with a column `member` (`currentMembers` of the chain index). */
type CurrentWallets = (sql: Queries) => Fragment;

/** Credentials of one query, and of one write. */
const BATCH = 1_000;

/** Credentials of caught-up wallets whose rewards were not queried in an epoch. */
export async function accountsToQuery(sql: Queries, epoch: number, current: CurrentWallets): Promise<Credential[]> {
  const rows = await sql<{ stake: string }[]>`
    select distinct i.stake from wallet_index i
    join ${current(sql)} m on m.member = i.wallet
    left join wallet_reward r on r.wallet = i.wallet and r.to_slot is null
    where i.stake is not null and (r.epoch is null or r.epoch < ${epoch}) limit ${BATCH}`;
  return rows.flatMap(({ stake }) => parseCredential(stake) ?? []);
}

/** A wallet's stored rewards. */
interface StoredReward {
  readonly wallet: string;
  readonly stake: string;
  readonly rewards: bigint | null;
  readonly known: boolean;
}

/** Writes accounts of a query's point, updated by the blocks after it; gives the events for actors. */
export async function writeRewards(
  sql: Queries,
  { point, value }: { readonly point: Point; readonly value: readonly ReportedAccount[] },
  blocks: readonly ScannedBlock[],
  { epochOf, current }: { readonly epochOf: EpochOf; readonly current: CurrentWallets },
): Promise<readonly Touched[]> {
  const accounts = new Map(value.map((account) => [ownedCredential(account.credential), account]));
  const mine = await sql<StoredReward[]>`
    select i.wallet, i.stake, r.rewards, d.wallet is not null as known from wallet_index i
    join ${current(sql)} m on m.member = i.wallet
    left join wallet_reward r on r.wallet = i.wallet and r.to_slot is null
    left join wallet_delegation d on d.wallet = i.wallet and d.to_slot is null
    where i.stake = any(${sql.array([...accounts.keys()])}) order by i.wallet`;
  if (mine.length === 0) return [];
  const wallets = sql.array(mine.map(({ wallet }) => wallet));
  await sql`delete from wallet_reward where wallet = any(${wallets}) and from_slot >= ${point.slot}`;
  await sql`update wallet_reward set to_slot = ${point.slot}
    where wallet = any(${wallets}) and (to_slot is null or to_slot > ${point.slot})`;
  const now = new Map<string, bigint>();
  const rows = mine.flatMap(({ wallet, stake }) => {
    const some = rewardsAfter(mustGet(accounts, stake), stake, point.slot, blocks);
    now.set(stake, elementAt(some, some.length - 1).rewards);
    return some.map((row) => ({ wallet, credential: stake, ...row }));
  });
  const texts = (values: readonly (string | number | bigint | null | undefined)[]) =>
    sql.array(values.map((value) => value == null ? null : String(value)));
  await sql`insert into wallet_reward (wallet, credential, epoch, rewards, from_slot, to_slot)
    select wallet, credential, ${epochOf(point.slot)}, rewards, from_slot, to_slot from unnest(
      ${texts(rows.map(({ wallet }) => wallet))}::text[], ${texts(rows.map(({ credential }) => credential))}::text[],
      ${texts(rows.map(({ rewards }) => rewards))}::bigint[], ${texts(rows.map((row) => row.from_slot))}::bigint[],
      ${texts(rows.map((row) => row.to_slot))}::bigint[]) as t (wallet, credential, rewards, from_slot, to_slot)`;
  // the blocks read may start after a registration or vote: only missing columns are filled in
  const known = [...accounts].filter(([, { registered }]) => registered);
  const filled = await sql<{ credential: string }[]>`update wallet_delegation d
    set deposit = coalesce(d.deposit, x.deposit), pool = coalesce(d.pool, x.pool), drep = coalesce(d.drep, x.drep)
    from unnest(${texts(known.map(([stake]) => stake))}::text[], ${
    texts(known.map(([, one]) => one.deposit))
  }::bigint[],
      ${texts(known.map(([, one]) => one.pool))}::text[],
      ${texts(known.map(([, { drep }]) => drep && drepKey(drep)))}::text[]) x (credential, deposit, pool, drep)
    where d.credential = x.credential and d.to_slot is null and d.registered and d.from_slot <= ${point.slot}
      and d.wallet = any(${wallets})
      and (d.deposit is null and x.deposit is not null or d.pool is null and x.pool is not null
        or d.drep is null and x.drep is not null)
    returning d.credential`;

  const last = blocks.at(-1) ?? point;
  const unread = mine.filter(({ stake, known }) => !known && mustGet(accounts, stake).registered);
  const began = unread.map(({ wallet, stake }) => ({ wallet, stake, ...mustGet(accounts, stake) }));
  await sql`insert into wallet_delegation (wallet, credential, epoch, registered, deposit, pool, drep, from_slot)
    select wallet, credential, -1, true, deposit, pool, drep, ${point.slot} from unnest(
      ${texts(began.map(({ wallet }) => wallet))}::text[], ${texts(began.map(({ stake }) => stake))}::text[],
      ${texts(began.map(({ deposit }) => deposit))}::bigint[], ${texts(began.map(({ pool }) => pool))}::text[],
      ${texts(began.map(({ drep }) => drep && drepKey(drep)))}::text[]) as t (wallet, credential, deposit, pool, drep)`;
  const whole = new Set([...unread.map(({ stake }) => stake), ...filled.map(({ credential }) => credential)]);
  return await eventsOf(sql, mine, whole, now, last, epochOf);
}

/** The rows of an account from the query's point on: a new one with each block that withdraws. */
function rewardsAfter(account: ReportedAccount, stake: string, slot: number, blocks: readonly ScannedBlock[]) {
  const rows: { rewards: bigint; from_slot: number; to_slot: number | null }[] = [
    { rewards: account.rewards, from_slot: slot, to_slot: null },
  ];
  for (const block of blocks) {
    const amount = withdrawalsOf(block).get(stake);
    if (amount === undefined) continue;
    const before = elementAt(rows, rows.length - 1);
    before.to_slot = block.slot;
    const rewards = before.rewards > amount ? before.rewards - amount : 0n;
    rows.push({ rewards, from_slot: block.slot, to_slot: null });
  }
  return rows;
}

/** Events: the whole state where the network reported a delegation, otherwise changed rewards. */
async function eventsOf(
  sql: Queries,
  mine: readonly StoredReward[],
  wholly: ReadonlySet<string>,
  now: ReadonlyMap<string, bigint>,
  at: Point,
  epochOf: EpochOf,
): Promise<readonly Touched[]> {
  const epoch = epochOf(at.slot);
  const whole: Touched[] = [];
  if (wholly.size > 0) {
    const list = sql.array([...wholly]);
    const rows: Rows = new Map([
      ["wallet_delegation_history", await sql`select * from wallet_delegation where credential = any(${list})`],
      ["wallet_reward", await sql`select * from wallet_reward where credential = any(${list}) and to_slot is null`],
    ]);
    whole.push(...[...wholly].map((stake) => wholeStateEvent("TOLD", stake, { ...at, epoch }, rows)));
  }
  const changed = new Set(
    mine.flatMap(({ stake, rewards }) => wholly.has(stake) || (rewards ?? 0n) === now.get(stake) ? [] : [stake]),
  );
  const rewarded = [...changed].map((stake): Touched => ({
    entity: { kind: "delegation", id: stake },
    event: { type: "REWARDED", slot: at.slot, epoch, rewards: String(now.get(stake)) },
  }));
  return [...whole, ...rewarded];
}
