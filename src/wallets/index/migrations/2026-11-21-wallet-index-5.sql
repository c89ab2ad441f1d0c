-- the whole order of a history: a plan for any number of rows would otherwise sort all rows of a wallet for its first page
drop index wallet_transaction_wallet_from_slot_index_idx;
create index on wallet_transaction (wallet, from_slot, index, hash);
