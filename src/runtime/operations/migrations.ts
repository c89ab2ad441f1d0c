/** Schema migrations for operators and retention. */
import type { Migration } from "#src/store/migrations.ts";

export const operatorMigrations: readonly Migration[] = [{
  // The indexes for retention are partial: a row enters them when it ends, so that no insert pays for them.
  id: "operator-1",
  sql: `
create index actor_paused on actor (kind, id) where paused;
create index command_result_old on command_result (created) where result is not null;
create index effect_old on effect (next_attempt) where done;
create index input_log_old on input_log (created) where read;

-- Where the event came from, and how often a retry was answered without being applied.
alter table dead_letter add column source text, add column retries int not null default 0;
update dead_letter set source = case when cause like 'input:%' then 'input' when cause like 'reminder:%' then 'reminder'
  when cause like 'effect:%' then 'outcome' else 'command' end;
alter table dead_letter alter column source set not null;
create index dead_letter_of on dead_letter (kind, id, n);
`,
}, {
  id: "operator-2",
  sql: `
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
`,
}, {
  id: "operator-3",
  sql: `
-- Failed attempts of effects in the last hour, by minute since 1970. The owner of the partition writes.
create table effect_failure (
  minute int not null,
  partition int not null,
  failures int not null,
  primary key (minute, partition)
) with (fillfactor = 50);
`,
}];
