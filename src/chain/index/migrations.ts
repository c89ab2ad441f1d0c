/** Tables of the index that every network needs, whatever is projected. */
import type { Migration } from "#src/store/migrations.ts";

export const chainMigrations: readonly Migration[] = [{
  id: "chain-1",
  sql: `
    -- how far a follower has read; the newest tip it heard of
    create table chain_cursor (
      id text primary key, slot bigint not null, hash text not null, height bigint not null,
      tip_slot bigint not null, tip_height bigint not null);
    insert into chain_cursor values ('main', -1, '', 0, -1, 0);

    -- the last blocks, to intersect with after a reconnect or a rollback
    create table chain_block (slot bigint primary key, hash text not null, height bigint not null, previous text);

    create table chain_transaction (
      hash text primary key, block_hash text not null, height bigint not null, index int not null, valid boolean not null,
      fee bigint not null, valid_from bigint, valid_to bigint, from_slot bigint not null, to_slot bigint);
    create index on chain_transaction (from_slot);

    -- addresses whose outputs are kept: asked for ('wanted') or known and folded ('ready')
    create table chain_watch (
      address text primary key, ready boolean not null default false, at_slot bigint, forever boolean not null default false,
      used_at timestamptz not null default now());

    create table chain_utxo (
      ref text primary key, address text not null, output bytea not null, from_slot bigint not null, to_slot bigint);
    create index on chain_utxo (address) where to_slot is null;
    create index on chain_utxo (from_slot);
    create index on chain_utxo (to_slot) where to_slot is not null;

    -- what was submitted through us, and which of it is still open (until the slot it lapses in); written by turns alone
    create table submission (
      hash text primary key, cbor bytea not null, inputs text[] not null, addresses text[] not null);
    create index on submission using gin (addresses);
    create table submission_open (hash text primary key, open_until bigint);
    create index on submission_open (open_until) where open_until is not null;

    -- an input that a build has offered is avoided by later builds until it lapses
    create table reservation (ref text primary key, until timestamptz not null);`,
}, {
  id: "chain-2",
  sql: `
    -- a transaction of Byron states no fee
    alter table chain_transaction alter fee drop not null;`,
}, {
  id: "chain-3",
  sql: `
    -- goes up when things come to a cursor or leave it: what was folded without them is not written
    alter table chain_cursor add column generation bigint not null default 0;

    -- things that are read from a birth point on and then with all others; cursor: where they are read, null while nobody reads them yet
    create table chain_member (
      projection text not null, member text not null, birth_slot bigint not null, birth_hash text not null,
      cursor text references chain_cursor (id), gone boolean not null default false, primary key (projection, member));
    create index on chain_member (cursor) where cursor is distinct from 'main' or gone;

    create sequence chain_restoring;
    create index on chain_block (height);
    create index on chain_block (hash);`,
}, {
  id: "chain-4",
  sql: `
    -- of a cursor apart: the slot above which the main cursor's blocks are of another branch than its own; null where they are not
    alter table chain_cursor add column fork_slot bigint;
    -- nobody uses it any more and its outputs are being erased, some at a time
    alter table chain_watch add column lapsed boolean not null default false;
    -- an address's outputs are erased whether they are spent or not
    drop index chain_utxo_address_idx;
    create index on chain_utxo (address, to_slot);`,
}, {
  id: "chain-5",
  sql: `
    -- how submissions stand, for those that list them; lapsed_until: a chain shorter than that slot has one valid again that lapsed.
    -- Written by turns alone; what no rollback reaches any more loses its lapsed_until
    create table submission_status (hash text primary key, status text not null, lapsed_until bigint);
    create index on submission_status (lapsed_until) where lapsed_until is not null;
    -- the wallets that list a submission until the ledger has it, and where the chain stood when they submitted it
    create table submission_wallet (
      hash text not null, wallet text not null, since_slot bigint not null, since_height bigint not null,
      primary key (hash, wallet));
    create index on submission_wallet (wallet);
    insert into submission_status (hash, status, lapsed_until)
      select hash, case when exists (select 1 from submission_open o where o.hash = s.hash) then 'pending' else 'in_ledger' end, null
      from submission s where exists (select 1 from submission_open o where o.hash = s.hash)
        or exists (select 1 from chain_transaction t where t.hash = s.hash and t.to_slot is null);`,
}, {
  id: "chain-6",
  sql: `
    -- names and messages of the failures for which the network will not have what it had taken, JSON
    alter table submission_status add column failures text;`,
}, {
  id: "chain-7",
  sql: `
    -- each of its two keys first in one index, so that neither is looked for through all of another
    drop index submission_wallet_wallet_idx;
    alter table submission_wallet drop constraint submission_wallet_pkey;
    alter table submission_wallet add primary key (wallet, hash);
    create index on submission_wallet (hash);
    create index on chain_member (member);`,
}, {
  id: "chain-8",
  sql: `
    -- transactions of blocks that are no more, with the slot that each was in: they may be in another block since
    create table chain_rolled_back (hash text primary key, slot bigint not null);
    create index on chain_rolled_back (slot);`,
}, {
  id: "chain-9",
  sql: `
    -- things whose birth a cursor has not passed, which each batch of blocks looks for; those born after a slot, for rollbacks
    create index on chain_member (cursor, birth_slot);
    create index on chain_member (birth_slot);`,
}];
