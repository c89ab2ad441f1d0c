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
create table devnet_side_spend (block text, tx_hash text, index int, primary key (block, tx_hash, index));
-- their rows in the index, by its table; of the relation spend: the outputs that the block spends
create table devnet_side_index (block text, relation text, rows json not null, primary key (block, relation));
