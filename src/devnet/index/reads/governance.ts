/**
 * Reads of the index: representatives, by the keys of their credentials, governance actions and votes. Each function is one
 * statement.
 *
 * The two votes that need no representative (`abstain`, `no confidence`) are among the representatives from the first account
 * on that delegates to them.
 */
import type { ActionId } from "#src/cardano/conway/governance.ts";
import { accountStakes } from "#src/devnet/index/reads/accounts.ts";
import { direction, limits, type Page } from "#src/devnet/index/reads/page.ts";
import type { VoteRow } from "#src/devnet/index/rows.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** A representative. */
export interface RepresentativeRow {
  readonly drep: string;
  /** Whether its last certificate ended it. */
  readonly retired: boolean;
  /** Whether it was inactive for so long that its votes no longer count. */
  readonly expired: boolean;
  /** Lovelace of the accounts that delegate to it. */
  readonly lovelace: string;
  /** Epoch of its last registration, as long as it is registered. */
  readonly since: number | null;
  /** Epoch of its last certificate or vote. */
  readonly active: number | null;
  /** Its last registration or update; null for the two that need none. */
  readonly cbor: Uint8Array | null;
}

/** Which representatives, and in which order. */
export interface RepresentativeFilter {
  readonly retired?: boolean | undefined;
  readonly expired?: boolean | undefined;
  readonly by?: "amount" | undefined;
}

const ALWAYS = (sql: Queries): Fragment => sql`('abstain', 'no confidence')`;
const REGISTRATIONS = (sql: Queries): Fragment => sql`('drep_register', 'drep_deregister')`;
const newest = (sql: Queries): Fragment => sql`height desc, tx_index desc, cert_index desc, part desc`;

/** Rows `(drep, credential, place, lovelace)`: what registered accounts delegate to representatives that are registered. */
function votingStakes(sql: Queries): Fragment {
  return sql`
    select account.drep, account.credential, account.vote_place as place, account.lovelace
    from (${accountStakes(sql)}) account left join (
      select distinct on (drep) drep, kind, (height, tx_index, cert_index, part) as place
      from devnet_index_certificate where drep is not null and kind in ${REGISTRATIONS(sql)}
      order by drep, ${newest(sql)}) last on last.drep = account.drep
    where account.drep in ${ALWAYS(sql)} or (last.kind = 'drep_register' and account.vote_place > last.place)`;
}

/** Rows `RepresentativeRow` and `first`, the place of the first registration. */
function representatives(sql: Queries, chosen: Fragment): Fragment {
  const epochAt = (height: Fragment) =>
    sql`(select coalesce(max(epoch), 0)::int from devnet_index_block where height = ${height})`;
  return sql`
    select first.drep, first.place as first, coalesce(last.kind = 'drep_deregister', false) as retired,
      coalesce(activity.expired, false) as expired, coalesce(delegated.lovelace, 0) as lovelace,
      case when last.kind = 'drep_register' then ${epochAt(sql`last.height`)} end as since,
      case when last.kind is not null then ${
    epochAt(sql`greatest(
        (select max(height) from devnet_index_certificate c where c.drep = first.drep and c.kind like 'drep%'),
        (select max(height) from devnet_index_vote v where v.voter = first.drep and v.role = 'drep'))`)
  } end as active,
      (select cbor from devnet_index_certificate c
        where c.drep = first.drep and c.kind in ('drep_register', 'drep_update') order by ${
    newest(sql)
  } limit 1) as cbor
    from (
      select drep, min(array[height, tx_index, cert_index]) as place from devnet_index_certificate
      where (kind = 'drep_register' or kind = 'vote' and drep in ${ALWAYS(sql)}) and ${chosen} group by drep) first
    left join (
      select drep.key, (drep.value->>'expiry')::int + coalesce((
          select (value->>'dormant')::int from devnet_entry where kind = 'governance'), 0)
        < (select (value #>> '{}')::int from devnet_entry where kind = 'epoch') as expired
      from devnet_entry drep where drep.kind = 'dreps') activity on activity.key = first.drep
    left join (
      select drep, sum(lovelace) as lovelace from (${votingStakes(sql)}) stake group by drep) delegated
      on delegated.drep = first.drep
    left join lateral (
      select kind, height from devnet_index_certificate c where c.drep = first.drep and c.kind in ${REGISTRATIONS(sql)}
      order by ${newest(sql)} limit 1) last on true`;
}

/** Representatives in the order of their first registrations, or by what is delegated to them. */
export async function readRepresentatives(
  sql: Queries,
  { retired, expired, by }: RepresentativeFilter,
  page: Page,
): Promise<RepresentativeRow[]> {
  const order = direction(sql, page);
  return await sql<RepresentativeRow[]>`
    select drep, retired, expired, lovelace::text as lovelace, since, active, cbor
    from (${representatives(sql, sql`true`)}) of
    where ${retired === undefined ? sql`true` : sql`retired = ${retired}`}
      and ${expired === undefined ? sql`true` : sql`expired = ${expired}`}
    order by ${by === "amount" ? sql`of.lovelace ${order}, ` : sql``} first ${order}, drep ${limits(sql, page)}`;
}

/** A representative; undefined where none was ever registered under the key. */
export async function readRepresentative(sql: Queries, drep: string): Promise<RepresentativeRow | undefined> {
  const [row] = await sql<RepresentativeRow[]>`
    select drep, retired, expired, lovelace::text as lovelace, since, active, cbor
    from (${representatives(sql, sql`drep = ${drep}`)}) of`;
  return row;
}

/** Accounts that delegate their votes to a representative, in the order of their delegations, and their lovelace. */
export async function readVotingAccounts(
  sql: Queries,
  drep: string,
  page: Page,
): Promise<{ credential: string; lovelace: string }[]> {
  const order = direction(sql, page);
  return await sql<{ credential: string; lovelace: string }[]>`
    select credential, lovelace::text as lovelace from (${votingStakes(sql)}) stake where drep = ${drep}
    order by place ${order}, credential ${order} ${limits(sql, page)}`;
}

/** A certificate of a representative. */
export interface RepresentativeUpdate {
  readonly tx_hash: string;
  readonly cert_index: number;
  readonly kind: "drep_register" | "drep_update" | "drep_deregister";
  readonly deposit: bigint | null;
}

/** Certificates of a representative in the order of the chain. */
export async function readRepresentativeUpdates(
  sql: Queries,
  drep: string,
  page: Page,
): Promise<RepresentativeUpdate[]> {
  const order = direction(sql, page);
  return await sql<RepresentativeUpdate[]>`
    select tx_hash, cert_index, kind, deposit from devnet_index_certificate
    where drep = ${drep} and kind like 'drep%'
    order by height ${order}, tx_index ${order}, cert_index ${order} ${limits(sql, page)}`;
}

/** CBOR of the certificates by which a member of the committee authorized hot keys, by its cold credential's key. */
export async function readAuthorizations(sql: Queries, cold: string): Promise<Uint8Array[]> {
  const rows = await sql<{ cbor: Uint8Array }[]>`
    select cbor from devnet_index_certificate where kind = 'committee_authorize' and drep = ${cold}`;
  return rows.map(({ cbor }) => cbor);
}

/** A governance action. */
export interface ActionRow {
  readonly tx_hash: string;
  readonly index: number;
  readonly kind: string;
  /** Epoch in which it was proposed. */
  readonly epoch: number;
  /** Epochs after that in which it is voted on; null: as many as the genesis says. */
  readonly lifetime: number | null;
  readonly cbor: Uint8Array;
  readonly height: bigint;
  readonly slot: bigint;
  /** Votes that count, by role and vote. */
  readonly votes: readonly { readonly role: string; readonly vote: string; readonly count: number }[];
  /** The epoch in which the action was ratified, in which it took force, and in which it ended otherwise. */
  readonly ratified: number | null;
  readonly enacted: number | null;
  readonly expired: number | null;
  readonly dropped: number | null;
}

/** The votes that count: the last one of each voter on an action. */
const counted = (sql: Queries, chosen: Fragment): Fragment =>
  sql`
  select distinct on (role, voter, action_tx, action_index) * from devnet_index_vote where ${chosen}
  order by role, voter, action_tx, action_index, height desc, tx_index desc, vote_index desc`;

const actions = (sql: Queries): Fragment =>
  sql`
  select of.tx_hash, of.index, of.kind, of.epoch, of.cbor, of.height, block.slot, of.tx_index, (
    select coalesce(json_agg(json_build_object('role', role, 'vote', vote, 'count', count) order by role, vote), '[]') from (
      select role, vote, count(*)::int as count
      from (${counted(sql, sql`action_tx = of.tx_hash and action_index = of.index`)}) last
      group by role, vote) sums) as votes, outcome.*,
    (select (parameters->>'govActionLifetime')::int from devnet_index_epoch begun
      where begun.epoch <= of.epoch order by begun.epoch desc limit 1) as lifetime
  from devnet_index_proposal of join devnet_block block on block.height = of.height
  left join lateral (
    select max(epoch) filter (where outcome = 'ratified') as ratified, max(epoch) filter (where outcome = 'enacted') as enacted,
      max(epoch) filter (where outcome = 'expired') as expired, max(epoch) filter (where outcome = 'dropped') as dropped
    from devnet_index_outcome where action_tx = of.tx_hash and action_index = of.index) outcome on true`;

/** Governance actions in the order of the chain. */
export async function readActions(sql: Queries, page: Page): Promise<ActionRow[]> {
  const order = direction(sql, page);
  return await sql<ActionRow[]>`
    ${actions(sql)} order by of.height ${order}, of.tx_index ${order}, of.index ${order} ${limits(sql, page)}`;
}

/** A governance action; undefined where there is none. */
export async function readAction(sql: Queries, { txHash, index }: ActionId): Promise<ActionRow | undefined> {
  const [row] = await sql<ActionRow[]>`${actions(sql)} where of.tx_hash = ${txHash} and of.index = ${index}`;
  return row;
}

/** CBOR of the proposals to pay from the treasury that took force. */
export async function readTreasuryActions(sql: Queries): Promise<Uint8Array[]> {
  const rows = await sql<{ cbor: Uint8Array }[]>`
    select of.cbor from devnet_index_proposal of join devnet_index_outcome outcome
      on outcome.action_tx = of.tx_hash and outcome.action_index = of.index
    where of.kind = 'treasury' and outcome.outcome = 'enacted'`;
  return rows.map(({ cbor }) => cbor);
}

/** A vote, and where it is. */
export interface CastVote extends Pick<VoteRow, "tx_hash" | "vote_index" | "role" | "voter" | "vote"> {
  readonly action_tx: string;
  readonly action_index: number;
  /** Kind of the action; null where the chain has no such action. */
  readonly kind: string | null;
  readonly url: string | null;
  readonly url_hash: string | null;
  readonly height: bigint;
  readonly slot: bigint;
  /** Whether it is the voter's last one on the action. */
  readonly counted: boolean;
}

/** Which votes. */
export type VoteFilter =
  | { readonly action: ActionId }
  | { readonly role: VoteRow["role"]; readonly voters?: readonly string[] | undefined };

/** Votes in the order of the chain. */
export async function readVotes(sql: Queries, filter: VoteFilter, page: Page): Promise<CastVote[]> {
  const order = direction(sql, page);
  const chosen = "action" in filter
    ? sql`of.action_tx = ${filter.action.txHash} and of.action_index = ${filter.action.index}`
    : sql`of.role = ${filter.role} and ${
      filter.voters === undefined ? sql`true` : sql`of.voter = any(${sql.array([...filter.voters])}::text[])`
    }`;
  return await sql<CastVote[]>`
    select of.tx_hash, of.vote_index, of.role, of.voter, of.vote, of.action_tx, of.action_index, of.url, of.url_hash,
      of.height, block.slot, action.kind, not exists (
        select 1 from devnet_index_vote later
        where later.role = of.role and later.voter = of.voter and later.action_tx = of.action_tx
          and later.action_index = of.action_index
          and (later.height, later.tx_index, later.vote_index) > (of.height, of.tx_index, of.vote_index)) as counted
    from devnet_index_vote of join devnet_block block on block.height = of.height
    left join devnet_index_proposal action on action.tx_hash = of.action_tx and action.index = of.action_index
    where ${chosen}
    order by of.height ${order}, of.tx_index ${order}, of.vote_index ${order} ${limits(sql, page)}`;
}
