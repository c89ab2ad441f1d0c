-- Genesis settings. Their defaults are for a devnet that began before there were epochs: all lovelace is the faucet's, no pool.
alter table devnet_meta
  add column epoch_length int not null default 432000, add column max_supply bigint not null default 30000000000000000,
  add column reserves bigint not null default 0, add column treasury bigint not null default 0,
  add column pledge bigint not null default 0, add column faucet_funds bigint not null default 30000000000000000,
  add column draw_seed bytea not null default '\x', add column pools_url text;

-- Cold keys of pools, by which blocks name their issuer: those of the genesis, in order, with all that they are made of, and those
-- that registered later.
create table devnet_pool (
  pool text primary key, cold_key bytea not null, position int unique, cold_seed bytea, owner_seed bytea, payment_seed bytea,
  metadata text);

-- lovelace of a stake credential: base addresses end with it
create index on devnet_utxo (substr(address, 59)) where spent_height is null;
