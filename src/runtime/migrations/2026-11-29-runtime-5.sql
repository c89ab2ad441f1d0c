-- What actors are searched by, as their kinds declare it. A time is a number: milliseconds since 1970.
create table actor_attribute (
  kind text collate "C" not null,
  id text collate "C" not null,
  name text collate "C" not null,
  text text collate "C",
  number numeric,
  primary key (kind, id, name),
  check (num_nonnulls(text, number) = 1)
);
create index actor_attribute_text on actor_attribute (kind, name, text, id) where text is not null;
create index actor_attribute_number on actor_attribute (kind, name, number, id) where number is not null;

-- Open effects whose kind limits them, in the order "seq". A row has a slot of its key while "epoch" is that of its partition and the
-- partition's lease lasts; the slots of a worker that is gone end with its leases.
create table effect_queue (
  kind text collate "C" not null,
  name text collate "C" not null,
  key text collate "C" not null,
  seq bigint generated always as identity,
  id text collate "C" not null,
  n bigint not null,
  partition int not null,
  epoch bigint,
  started timestamptz,
  created timestamptz not null default now(),
  primary key (kind, id, n)
);
create index effect_queue_waiting on effect_queue (kind, name, key, seq) where epoch is null;
create index effect_queue_started on effect_queue (kind, name, key) where epoch is not null;
create index effect_queue_of on effect_queue (partition);

-- "version" rises with each taking of slots, so that of two at the same time one fails; "starts" are the last ones, for the rate.
-- After "until" a row without waiting effects means nothing.
create table effect_limit (
  kind text collate "C" not null,
  name text collate "C" not null,
  key text collate "C" not null,
  version bigint not null,
  starts timestamptz[] not null,
  until timestamptz not null,
  primary key (kind, name, key)
) with (fillfactor = 50);

-- An effect in "effect_queue" is not found by the sweep.
alter table effect add column queued boolean not null default false;
drop index effect_open;
create index effect_open on effect (partition, next_attempt) where not done and not queued;

-- The versions of the kinds with which partitions were taken, the newest of each, and those that a worker runs. A worker whose kinds
-- are older takes no partition. "checked" is the epoch: a release that does not compare versions raises "epoch" alone, which fails.
create table kind_version (kind text collate "C" primary key, version int not null);
alter table worker add column kinds jsonb;
alter table partition add column checked bigint;
update partition set checked = epoch;
alter table partition alter column checked set not null, alter column checked set default 0,
  add constraint partition_taken_by_checked_release check (checked = epoch);
alter table lease add column checked bigint;
update lease set checked = epoch;
alter table lease alter column checked set not null, alter column checked set default 0,
  add constraint lease_taken_by_checked_release check (checked = epoch);
