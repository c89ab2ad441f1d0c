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
create table devnet_mempool (position bigint primary key, hash text not null unique, cbor bytea not null);
