create table pool_production (
  pool text not null, blocks bigint not null, from_slot bigint not null, to_slot bigint, primary key (pool, from_slot));
create unique index on pool_production (pool) where to_slot is null;
create index on pool_production (from_slot);
create index on pool_production (to_slot) where to_slot is not null;

-- what people set for the service as a whole
create table wallet_setting (name text primary key, value text not null);

-- what a source said; metadata: null while it has none, with the time after which it is asked again. hash: as the registration has it
create table pool_metadata (
  source text not null, pool text not null, hash text not null, metadata jsonb, problem text, attempts int not null,
  again_at timestamptz, primary key (source, pool, hash));
create table pool_delisted (source text not null, pool text not null, primary key (source, pool));
-- when a source was last asked which pools it delists
create table pool_source (source text primary key, delisted_at timestamptz, collected_at timestamptz);
