/** Schema migrations of the chain index: the tables that do not belong to one projection. */
import type { Migration } from "#src/store/migrations.ts";

/** The schema migrations, in their order. */
export const chainMigrations: readonly Migration[] = [{
  id: "chain-1",
  sql: `
    -- cursors: the last block that each has indexed (slot -1: none), and the newest tip received from the network
    create table chain_cursor (
      id text primary key, slot bigint not null, hash text not null, height bigint not null,
      tip_slot bigint not null, tip_height bigint not null);
    insert into chain_cursor values ('main', -1, '', 0, -1, 0);

    -- the most recent indexed blocks: points from which to follow again after a reconnect or a rollback
    create table chain_block (slot bigint primary key, hash text not null, height bigint not null, previous text);

    create table chain_transaction (
      hash text primary key, block_hash text not null, height bigint not null, index int not null, valid boolean not null,
      fee bigint not null, valid_from bigint, valid_to bigint, from_slot bigint not null, to_slot bigint);
    create index on chain_transaction (from_slot);

    -- watched addresses; ready: their unspent outputs are in chain_utxo; at_slot: point of the query that read them
    create table chain_watch (
      address text primary key, ready boolean not null default false, at_slot bigint, forever boolean not null default false,
      used_at timestamptz not null default now());

    create table chain_utxo (
      ref text primary key, address text not null, output bytea not null, from_slot bigint not null, to_slot bigint);
    create index on chain_utxo (address) where to_slot is null;
    create index on chain_utxo (from_slot);
    create index on chain_utxo (to_slot) where to_slot is not null;

    -- submitted transactions; pending ones, with the first slot in which they are invalid. Written by actor turns only
    create table submission (
      hash text primary key, cbor bytea not null, inputs text[] not null, addresses text[] not null);
    create index on submission using gin (addresses);
    create table submission_open (hash text primary key, open_until bigint);
    create index on submission_open (open_until) where open_until is not null;

    -- outputs used by a recent build: later builds prefer other outputs until the reservation ends
    create table reservation (ref text primary key, until timestamptz not null);`,
}, {
  id: "chain-2",
  sql: `
    -- Byron transactions do not state their fee
    alter table chain_transaction alter fee drop not null;`,
}, {
  id: "chain-3",
  sql: `
    -- incremented when members join or leave a cursor; a batch computed under an older generation is not written
    alter table chain_cursor add column generation bigint not null default 0;

    -- members (wallets, tokens), indexed from the block after their start point; cursor: null if none is assigned; gone: dismissed
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
    -- of a restore group's cursor: slot of its fork from the main cursor's branch; null if both are on the same branch
    alter table chain_cursor add column fork_slot bigint;
    -- the watch has expired; its outputs are being deleted in batches
    alter table chain_watch add column lapsed boolean not null default false;
    -- the outputs of an expired watch are looked up and deleted whether they are spent or not
    drop index chain_utxo_address_idx;
    create index on chain_utxo (address, to_slot);`,
}, {
  id: "chain-5",
  sql: `
    -- status of submissions, for the wallets that list them; lapsed_until: a rollback below this slot makes an expired one valid.
    -- Written only by turns of actors; lapsed_until becomes null once no rollback can reach its slot
    create table submission_status (hash text primary key, status text not null, lapsed_until bigint);
    create index on submission_status (lapsed_until) where lapsed_until is not null;
    -- wallets that list a submission until it is in the ledger; since_slot, since_height: the main cursor at submission
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
    -- JSON: names and messages of the failures for which the network refuses a transaction that it had accepted
    alter table submission_status add column failures text;`,
}, {
  id: "chain-7",
  sql: `
    -- one index for each look-up, by wallet and by hash
    drop index submission_wallet_wallet_idx;
    alter table submission_wallet drop constraint submission_wallet_pkey;
    alter table submission_wallet add primary key (wallet, hash);
    create index on submission_wallet (hash);
    create index on chain_member (member);`,
}, {
  id: "chain-8",
  sql: `
    -- transactions of rolled-back blocks, with the slot of that block; a later block may contain them again
    create table chain_rolled_back (hash text primary key, slot bigint not null);
    create index on chain_rolled_back (slot);`,
}, {
  id: "chain-9",
  sql: `
    -- members by start point: those of a cursor (for each batch of blocks), those after a slot (for rollbacks)
    create index on chain_member (cursor, birth_slot);
    create index on chain_member (birth_slot);`,
}];
