-- A turn that does not change the state changes no indexed column, so that PostgreSQL writes no new index entries (HOT).
alter table actor add column since timestamptz not null default now();
drop index actor_ended;
update actor set since = changed
  where kind = 'transaction' and state in ('in_ledger', 'expired', 'refused', 'forgotten');

-- Actors that retention may delete, by age.
create index actor_ended on actor (since, id)
  where kind = 'transaction' and state in ('in_ledger', 'expired', 'refused', 'forgotten');

-- One index serves the sweeps of a partition and the marks of single rows.
drop index outbox_unpublished_of;
alter table outbox_unpublished drop constraint outbox_unpublished_pkey;
alter table outbox_unpublished add primary key (partition, kind, id, version);
