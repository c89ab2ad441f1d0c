-- members by start point: those of a cursor (for each batch of blocks), those after a slot (for rollbacks)
create index on chain_member (cursor, birth_slot);
create index on chain_member (birth_slot);
