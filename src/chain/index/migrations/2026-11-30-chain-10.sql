-- all outputs of the chain, for the root of the unspent ones; whole: they are there from the first block on
create table chain_output (
  ref text primary key, address text not null, output bytea not null, from_slot bigint not null, to_slot bigint);
create index on chain_output (address) where to_slot is null;
create index on chain_output (from_slot);
create index on chain_output (to_slot) where to_slot is not null;
create table chain_output_whole (one boolean primary key default true check (one));

-- the tree over the unspent ones: its rows, the block that it is at, the roots of blocks
create table chain_output_tree (name text collate "C" primary key, nodes bytea not null) with (fillfactor = 70);
alter table chain_output_tree alter column nodes set storage plain;
create table chain_output_place (
  one boolean primary key default true check (one), height bigint not null, hash text not null, release int not null,
  top bytea not null, root bytea);
create table chain_output_root (hash text primary key, height bigint not null, root bytea);
create index on chain_output_root (height);
