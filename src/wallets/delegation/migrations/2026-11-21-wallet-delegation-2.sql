-- of what is live alone: a partial index seems so small to a planner without statistics that it reads all of it for anything
drop index wallet_delegation_wallet_idx;
create index on wallet_delegation (wallet, to_slot);
drop index wallet_reward_wallet_idx;
create index on wallet_reward (wallet, to_slot);
