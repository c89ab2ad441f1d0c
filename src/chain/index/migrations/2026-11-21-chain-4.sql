-- of a restore group's cursor: slot of its fork from the main cursor's branch; null if both are on the same branch
alter table chain_cursor add column fork_slot bigint;
-- the watch has expired; its outputs are being deleted in batches
alter table chain_watch add column lapsed boolean not null default false;
-- the outputs of an expired watch are looked up and deleted whether they are spent or not
drop index chain_utxo_address_idx;
create index on chain_utxo (address, to_slot);
