-- accounts whose vote ends with their DRep
create index on wallet_delegation (drep, to_slot);
