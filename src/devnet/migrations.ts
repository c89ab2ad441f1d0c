/** Tables of the devnet: the chain it makes, the outputs of that chain, and what waits to be in it. */
import type { Migration } from "#src/store/migrations.ts";

export const devnetMigrations: readonly Migration[] = [{
  id: "devnet-1",
  sql: `
    -- the genesis; the highest slot that ever held a block (one that was rolled back included); the height below which nothing is undone
    create table devnet_meta (
      one boolean primary key default true check (one),
      magic bigint not null, network_id smallint not null, genesis_time bigint not null, slot_length int not null,
      security_parameter int not null, parameters json not null, parameters_source text not null,
      faucet_seed bytea not null, issuer bytea not null, last_slot bigint not null default -1,
      floor_height bigint not null default -1);

    -- a block without transactions is a function of its other columns, and keeps no bytes; changes: of devnet_entry, with what was before
    create table devnet_block (
      height bigint primary key, slot bigint not null unique, hash text not null unique, previous text, issuer bytea not null,
      major smallint not null, minor smallint not null, transactions int not null, cbor bytea, changes json);

    create table devnet_transaction (hash text primary key, height bigint not null);
    create index on devnet_transaction (height);

    -- outputs, from the block that created them to the block that spent them; -1 is the genesis
    create table devnet_utxo (
      tx_hash text, index int, address text not null, cbor bytea not null, created_height bigint not null, spent_height bigint,
      primary key (tx_hash, index));
    create index on devnet_utxo (address) where spent_height is null;
    create index on devnet_utxo (created_height);
    create index on devnet_utxo (spent_height) where spent_height is not null;

    -- what the ledger knows beside outputs: accounts, pools, representatives, committee, pots
    create table devnet_entry (kind text, key text, value json not null, primary key (kind, key));

    -- transactions in the order in which they were accepted
    create table devnet_mempool (position bigint primary key, hash text not null unique, cbor bytea not null);`,
}, {
  id: "devnet-2",
  sql: `
    -- Genesis settings. Their defaults are for a devnet that began before there were epochs: all lovelace is the faucet's, no pool.
    alter table devnet_meta
      add column epoch_length int not null default 432000, add column max_supply bigint not null default 30000000000000000,
      add column reserves bigint not null default 0, add column treasury bigint not null default 0,
      add column pledge bigint not null default 0, add column faucet_funds bigint not null default 30000000000000000,
      add column draw_seed bytea not null default '\\x', add column pools_url text;

    -- Cold keys of pools, by which blocks name their issuer: those of the genesis, in order, with all that they are made of, and those
    -- that registered later.
    create table devnet_pool (
      pool text primary key, cold_key bytea not null, position int unique, cold_seed bytea, owner_seed bytea, payment_seed bytea,
      metadata text);

    -- lovelace of a stake credential: base addresses end with it
    create index on devnet_utxo (substr(address, 59)) where spent_height is null;`,
}, {
  id: "devnet-3",
  sql: `
    -- Genesis setting: the first epoch of other parameters, and these. Null: the parameters never change.
    alter table devnet_meta add column hard_fork_epoch int, add column hard_fork_parameters json;`,
}, {
  id: "devnet-5",
  sql: `
    -- Genesis settings: default accounts. An earlier devnet has none.
    -- slots_ahead: by how many slots the devnet runs ahead of the time since its slot 0.
    alter table devnet_meta
      add column accounts int not null default 0, add column account_funds bigint not null default 0,
      add column slots_ahead bigint not null default 0;`,
}, {
  id: "devnet-6",
  sql: `
    -- Named states to restore: the block that was the newest (hash empty: none) and the mempool at that moment.
    create table devnet_snapshot (
      name text primary key, height bigint not null, slot bigint not null, hash text not null, saved timestamptz not null default now());
    create table devnet_snapshot_mempool (
      name text references devnet_snapshot on delete cascade, position bigint, hash text not null, cbor bytea not null,
      primary key (name, position));

    -- Blocks that left the chain while a snapshot needs them, with the outputs that each created and spent.
    create table devnet_side_block (like devnet_block, primary key (hash));
    create index on devnet_side_block (height);
    create table devnet_side_transaction (block text, hash text, primary key (block, hash));
    create table devnet_side_output (
      block text, tx_hash text, index int, address text not null, cbor bytea not null, primary key (block, tx_hash, index));
    create table devnet_side_spend (block text, tx_hash text, index int, primary key (block, tx_hash, index));`,
}];
