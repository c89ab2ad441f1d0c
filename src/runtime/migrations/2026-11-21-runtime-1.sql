-- "version" counts events, "epoch" counts owners.
--
-- "partition" and "lease" have a unique index over their epoch. Raising the epoch is therefore a key update, which waits for every
-- statement that holds the row FOR KEY SHARE. Renewing "expires" is not a key update and waits for none of them.
create table partition (
  id int primary key,
  epoch bigint not null default 0,
  owner text,
  expires timestamptz not null default '-infinity',
  unique (id, epoch)
) with (fillfactor = 50);

create table worker (
  id text primary key,
  seen timestamptz not null
);

create table lease (
  name text primary key,
  epoch bigint not null,
  owner text,
  expires timestamptz not null,
  unique (name, epoch)
) with (fillfactor = 50);

create table actor (
  kind text collate "C" not null,
  id text collate "C" not null,
  partition int not null,
  version bigint not null,
  input_seq bigint not null,
  snapshot jsonb not null,
  machine_version int not null,
  paused boolean not null default false,
  changed timestamptz not null default now(),
  primary key (kind, id)
) with (fillfactor = 70);

-- "result" is null while the reply is open.
create table command_result (
  kind text collate "C" not null,
  id text collate "C" not null,
  command text collate "C" not null,
  result jsonb,
  created timestamptz not null default now(),
  primary key (kind, id, command)
);

create table effect (
  kind text collate "C" not null,
  id text collate "C" not null,
  n bigint not null,
  partition int not null,
  name text not null,
  input jsonb not null,
  attempts int not null default 0,
  next_attempt timestamptz not null,
  error text,
  done boolean not null default false,
  primary key (kind, id, n)
);
create index effect_open on effect (partition, next_attempt) where not done;

-- "n" tells a reminder from a later one of the same name.
create table reminder (
  kind text collate "C" not null,
  id text collate "C" not null,
  name text collate "C" not null,
  n bigint not null,
  partition int not null,
  at timestamptz not null,
  event jsonb not null,
  primary key (kind, id, name)
);
create index reminder_due on reminder (partition, at);

-- One row an applied event, kept as the history; "tx" gives a reader the order of commits.
create table outbox (
  kind text collate "C" not null,
  id text collate "C" not null,
  version bigint not null,
  partition int not null,
  from_state text not null,
  to_state text not null,
  type text not null,
  cause text not null,
  body jsonb not null,
  at timestamptz not null,
  created timestamptz not null default now(),
  tx xid8 not null default pg_current_xact_id(),
  published boolean not null default false,
  primary key (kind, id, version)
);
create index outbox_open on outbox (partition) where not published;

-- "outcome" says what became of an event once it was read: applied, skipped (not possible then) or failed.
create table input_log (
  seq bigint generated always as identity primary key,
  kind text collate "C" not null,
  id text collate "C" not null,
  partition int not null,
  event jsonb not null,
  read boolean not null default false,
  outcome text,
  created timestamptz not null default now()
);
create index input_log_open on input_log (partition, kind, id, seq) where not read;

-- The event is "json", which takes what "jsonb" refuses.
create table dead_letter (
  n bigint generated always as identity primary key,
  kind text not null,
  id text not null,
  cause text not null,
  event json not null,
  error text not null,
  created timestamptz not null default now()
);
