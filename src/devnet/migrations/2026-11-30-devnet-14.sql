-- the tree over the unspent outputs: its rows, the block that it is at, the roots of blocks
create table devnet_utxo_tree (name text collate "C" primary key, nodes bytea not null) with (fillfactor = 70);
-- a row is digests of at most some kB, which do not compress
alter table devnet_utxo_tree alter column nodes set storage plain;
create table devnet_utxo_tree_place (
  one boolean primary key default true check (one), height bigint not null, hash text not null, release int not null,
  top bytea not null, root bytea);
create table devnet_utxo_root (hash text primary key, height bigint not null, root bytea);
create index on devnet_utxo_root (height);
