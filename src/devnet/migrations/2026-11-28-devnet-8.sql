-- Time goes back with a rollback, so a slot may hold a block again. fork: how often the chain was rolled back, and of a block,
-- when it was made: blocks of two forks differ by it. A devnet of before may have undone blocks at slots after its newest block.
alter table devnet_meta add column fork bigint not null default 0, drop column last_slot;
update devnet_meta set fork = 1;
alter table devnet_block add column fork bigint not null default 0;
alter table devnet_side_block add column fork bigint not null default 0;

-- The clock of a snapshot: by how many slots it ran ahead, mode of mining and ms between blocks; null in those of before.
alter table devnet_snapshot add column slots_ahead bigint, add column mining text, add column block_ms int;
