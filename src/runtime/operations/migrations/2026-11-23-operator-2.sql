-- Transitions that are not published yet. A mark in "outbox" would write each row and its index entries twice. Workers of earlier
-- versions use "published" instead; theirs are in the index "outbox_open".
create table outbox_unpublished (
  kind text collate "C" not null,
  id text collate "C" not null,
  version bigint not null,
  partition int not null,
  created timestamptz not null default now(),
  primary key (kind, id, version)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index outbox_unpublished_of on outbox_unpublished (partition);

-- Snapshots of actors at some versions: from the nearest one, the state at a later version is computed from "outbox".
create table actor_snapshot (
  kind text collate "C" not null,
  id text collate "C" not null,
  version bigint not null,
  machine_version int not null,
  snapshot jsonb not null,
  primary key (kind, id, version)
);

-- Actors that retention may delete, by age.
create index actor_ended on actor (changed, id)
  where kind = 'transaction' and state in ('in_ledger', 'expired', 'refused', 'forgotten');
