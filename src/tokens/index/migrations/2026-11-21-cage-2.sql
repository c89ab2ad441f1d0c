-- where in its block a request was made: 65536 times the transaction's index, and the output's. Of requests from before this column
-- the transaction's index is unknown: those of one block stand in the order of their hashes
alter table token_request add column position bigint;
update token_request set position = substr(ref, 66)::int;
alter table token_request alter position set not null;
drop index token_request_token_idx;
create index on token_request (token, from_slot, position);
create index on token_request (token, owner, from_slot, position);
create index on token_request (path, from_slot);
create index on token_request (token, from_slot, position) where to_slot is null;

-- what became of requests; position: 65536 times the transaction's index, and the place among the requests that it spends.
-- No row ever ends: a rollback deletes them. entry: token:path, as a fact has it
create table token_request_end (
  ref text primary key, token text not null, entry text not null, status text not null, tx text, position bigint not null,
  from_slot bigint not null, to_slot bigint);

-- Of requests that ended before this table was kept: one was applied if its token has a new state in that block and its fact changed
-- there (or cannot tell); the transaction is that of the state where there is one alone, and unknown of those that were retracted
insert into token_request_end (ref, token, entry, status, tx, position, from_slot)
  select ref, token, token || ':' || path, case when applied then 'applied' else 'retracted' end,
    case when applied and states = 1 then tx end,
    row_number() over (partition by to_slot order by left(ref, 64), substr(ref, 66)::int), to_slot
  from (
    select r.*, s.states, s.tx, s.states > 0 and (
      r.old_value = r.new_value
      or exists (select 1 from fact f where f.entry = r.token || ':' || r.path
        and (f.from_slot = r.to_slot and f.value = r.new_value or f.to_slot = r.to_slot and r.type = 'delete'))
      or exists (select 1 from token_request o
        where o.token = r.token and o.path = r.path and o.to_slot = r.to_slot and o.ref <> r.ref)
      or exists (select 1 from token_quarantine q where q.token = r.token and q.from_slot <= r.to_slot)) as applied
    from token_request r
    cross join lateral (select count(*) as states, min(left(ref, 64)) as tx from token_state
      where token = r.token and from_slot = r.to_slot) s
    where r.to_slot is not null) ended;
create index on token_request_end (from_slot);
create index on token_request_end (token, from_slot, position) where status = 'applied';
create index on token_request_end (token, from_slot, position) where status = 'retracted';
create index on token_request_end (entry, from_slot, position) where status = 'applied';

-- facts by the bytes of their keys; an index takes no key of any length
create index on fact (token, substr(key, 1, 512), path, from_slot, to_slot);
