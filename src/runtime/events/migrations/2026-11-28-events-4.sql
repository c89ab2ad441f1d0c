-- JetStream streams that transitions were stored in. "created" is the stream's own time; another time means another stream.
-- "incomplete": it lacks transitions that were published before.
create table event_stream (
  name text primary key,
  created text not null,
  incomplete boolean not null default false
);

-- The last rebuild of the streams from the database; "beat" is when it last made progress.
create table event_rebuild (
  one boolean primary key default true check (one),
  id text not null,
  status text not null check (status in ('running', 'done', 'failed')),
  beat timestamptz not null default now(),
  stored bigint not null default 0,
  total bigint not null,
  reason text
);
