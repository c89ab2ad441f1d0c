-- the version of the contract whose tokens can apply a request, none where its output carries a script; null of requests from before
-- this column, which may be of any
alter table token_request add column policy text;
-- open requests by what they expect of their key: those that cannot be applied are not read to find the others
create index on token_request (token, path, (case when type = 'insert' then ''::bytea else sha256(old_value) end), from_slot, position, ref)
  where to_slot is null;
-- those for one key by age
create index on token_request (token, path, from_slot, position, ref) where to_slot is null;
-- all in the ledger's order of outputs
create index on token_request (token, left(ref, 64), (substr(ref, 66)::int)) where to_slot is null;
