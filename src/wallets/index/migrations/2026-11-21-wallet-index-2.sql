-- of what is live alone: a partial index seems so small to a planner without statistics that it reads all of it for anything
drop index wallet_pool_wallet_role_idx;
create index on wallet_pool (wallet, to_slot);
drop index wallet_utxo_wallet_idx;
create index on wallet_utxo (wallet, to_slot);
drop index wallet_holding_entry_idx;
create index on wallet_holding (entry, to_slot);
drop index wallet_holding_wallet_idx;
create index on wallet_holding (wallet, to_slot);
