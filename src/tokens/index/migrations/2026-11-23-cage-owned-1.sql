create index on token_state (owner) where to_slot is null;
create index on token_request (owner) where to_slot is null;
