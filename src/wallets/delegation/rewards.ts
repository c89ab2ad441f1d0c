/**
 * Rewards, which are in no block. The network is queried for many accounts at once, for wallets that have caught up
 * with the indexer: once in each epoch, and when a wallet catches up. Withdrawals lower rewards in between
 * (`projection.ts`).
 *
 * The same query gives registration and delegation of an account as the ledger has them. It is the only source of
 * changes without a certificate, all of which the ledger makes at the begin of an epoch: a retired pool, a hard fork.
 * A row that differs is closed and another begins. Where a row has no pool, DRep or deposit although the ledger does,
 * the certificate lies before the blocks that are read: the row is filled in.
 */
import { LAG } from "#machines/delegation.ts";
import { mustGet } from "#src/base/maps.ts";
import { elementAt } from "#src/base/present.ts";
import type { Credential } from "#src/cardano/address.ts";
import type { Point, ScannedBlock } from "#src/cardano/block.ts";
import { drepKey } from "#src/cardano/drepText.ts";
import type { Rows, Touched } from "#src/chain/index/projection.ts";
import type { DRep } from "#src/cardano/certificates.ts";
import type { Fragment, Queries } from "#src/store/store.ts";
import { type EpochOf, withdrawalsOf } from "#src/wallets/delegation/projection.ts";
import { wholeStateEvent } from "#src/wallets/delegation/accountFacts.ts";
import { ownedCredential, parseCredential } from "#src/wallets/index/credential.ts";

/** An account as the network reports it. Amounts are lovelace. */
interface ReportedAccount {
  readonly credential: Credential;
  readonly registered: boolean;
  /** Rewards that are not withdrawn. */
  readonly rewards: bigint;
  readonly deposit: bigint | undefined;
  readonly pool: string | undefined;
  readonly drep: DRep | undefined;
  readonly incomplete?: true;
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
  /** Whether certificates after the query's point changed the account: the report is compared by the next query. */
  readonly later: boolean;
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
    select i.wallet, i.stake, r.rewards, d.wallet is not null as known,
      coalesce(d.from_slot > ${point.slot}, false) as later from wallet_index i
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
  const rows = mine.flatMap(({ wallet, stake, later }) => {
    const some = rewardsAfter(mustGet(accounts, stake), stake, point.slot, blocks);
    now.set(stake, elementAt(some, some.length - 1).rewards);
    const epoch = epochOf(point.slot) - (later ? 1 : 0);
    return some.map((row) => ({ wallet, credential: stake, epoch, ...row }));
  });
  const texts = (values: readonly (string | number | bigint | null | undefined)[]) =>
    sql.array(values.map((value) => value == null ? null : String(value)));
  await sql`insert into wallet_reward (wallet, credential, epoch, rewards, from_slot, to_slot)
    select wallet, credential, epoch, rewards, from_slot, to_slot from unnest(
      ${texts(rows.map(({ wallet }) => wallet))}::text[], ${texts(rows.map(({ credential }) => credential))}::text[],
      ${texts(rows.map(({ epoch }) => epoch))}::bigint[],
      ${texts(rows.map(({ rewards }) => rewards))}::bigint[], ${texts(rows.map((row) => row.from_slot))}::bigint[],
      ${
    texts(rows.map((row) => row.to_slot))
  }::bigint[]) as t (wallet, credential, epoch, rewards, from_slot, to_slot)`;
  // the blocks read may start after a registration or vote: missing columns are filled in
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
  const changed = await writeChanges(sql, point, epochOf(point.slot), mine.map(({ wallet }) => wallet), accounts);

  const last = blocks.at(-1) ?? point;
  const unread = mine.filter(({ stake, known }) => !known && mustGet(accounts, stake).registered);
  const began = unread.map(({ wallet, stake }) => ({ wallet, stake, ...mustGet(accounts, stake) }));
  await sql`insert into wallet_delegation (wallet, credential, epoch, registered, deposit, pool, drep, from_slot)
    select wallet, credential, -1, true, deposit, pool, drep, ${point.slot} from unnest(
      ${texts(began.map(({ wallet }) => wallet))}::text[], ${texts(began.map(({ stake }) => stake))}::text[],
      ${texts(began.map(({ deposit }) => deposit))}::bigint[], ${texts(began.map(({ pool }) => pool))}::text[],
      ${texts(began.map(({ drep }) => drep && drepKey(drep)))}::text[]) as t (wallet, credential, deposit, pool, drep)`;
  const whole = new Set([
    ...unread.map(({ stake }) => stake),
    ...filled.map(({ credential }) => credential),
    ...changed,
  ]);
  return await eventsOf(sql, mine, whole, now, last, epochOf);
}

/**
 * Ends the rows that claim more than the ledger has at the query's point: a registration, a pool, a DRep. Rows of later
 * blocks are left to the next query. Returns the credentials.
 */
async function writeChanges(
  sql: Queries,
  { slot }: Point,
  epoch: number,
  wallets: readonly string[],
  accounts: ReadonlyMap<string, ReportedAccount>,
): Promise<readonly string[]> {
  const reported = [...accounts].filter(([, { incomplete }]) => !incomplete);
  const texts = (values: readonly (string | boolean | undefined)[]) =>
    sql.array(values.map((value) => value === undefined ? null : String(value)));
  const rows = await sql<{ credential: string }[]>`
    with differing as (
      select d.wallet, d.credential, d.from_slot, d.deposit, x.registered, x.pool, x.drep from wallet_delegation d
      join unnest(${texts(reported.map(([stake]) => stake))}::text[],
        ${texts(reported.map(([, one]) => one.registered))}::boolean[],
        ${texts(reported.map(([, one]) => one.pool))}::text[],
        ${texts(reported.map(([, { drep }]) => drep && drepKey(drep)))}::text[]) x (credential, registered, pool, drep)
        on x.credential = d.credential
      where d.wallet = any(${sql.array([...wallets])}) and d.to_slot is null and d.from_slot <= ${slot}
        and (d.registered, d.pool, d.drep) is distinct from (x.registered, x.pool, x.drep)),
    closed as (
      update wallet_delegation d set to_slot = ${slot} from differing x
      where d.wallet = x.wallet and d.from_slot = x.from_slot and d.from_slot < ${slot}),
    replaced as (
      update wallet_delegation d
      set registered = x.registered, pool = x.pool, drep = x.drep, deposit = case when x.registered then d.deposit end
      from differing x where d.wallet = x.wallet and d.from_slot = x.from_slot and d.from_slot = ${slot}),
    due as (
      insert into wallet_delegation_due (wallet, credential, due, from_slot)
      select wallet, credential, ${epoch + LAG}, ${slot} from differing x where not exists (
        select 1 from wallet_delegation_due w where w.wallet = x.wallet and w.due = ${
    epoch + LAG
  } and w.to_slot is null)),
    began as (
      insert into wallet_delegation (wallet, credential, epoch, registered, deposit, pool, drep, from_slot)
      select wallet, credential, ${epoch}, registered, case when registered then deposit end, pool, drep, ${slot}
      from differing where from_slot < ${slot})
    select distinct credential from differing`;
  return rows.map(({ credential }) => credential);
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
