-- transactions of rolled-back blocks, with the slot of that block; a later block may contain them again
create table chain_rolled_back (hash text primary key, slot bigint not null);
create index on chain_rolled_back (slot);
