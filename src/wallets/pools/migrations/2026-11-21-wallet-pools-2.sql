-- the last block with a certificate about a pool
create table pool_change (pools text not null, from_slot bigint not null, to_slot bigint, primary key (pools, from_slot));
create unique index on pool_change (pools) where to_slot is null;
create index on pool_change (from_slot);
create index on pool_change (to_slot) where to_slot is not null;
