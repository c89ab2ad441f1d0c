-- requests that an update refused, from version 3.0.0 of the contract on
create index on token_request_end (token, from_slot, position) where status = 'refused';
