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
create table reservation (ref text primary key, until timestamptz not null);
