/** Schema migrations for readers of transitions and for webhooks. */
import type { Migration } from "#src/store/migrations.ts";

export const eventMigrations: readonly Migration[] = [{
  id: "events-1",
  sql: `
create index outbox_tx on outbox (tx);

-- How far the transitions of the past were deleted: those of this transaction and of all before it.
create table outbox_pruned (
  one boolean primary key default true check (one),
  tx xid8 not null
);
insert into outbox_pruned (tx) values ('0');
`,
}, {
  id: "events-2",
  sql: `
-- "secret" signs what is sent: only the sender and the call that made it read it. "position" is as readers of events know it.
create table webhook (
  id text primary key,
  url text not null,
  kind text,
  entity text,
  transition text,
  secret bytea not null,
  status text not null default 'active' check (status in ('active', 'failing', 'disabled')),
  reason text,
  position text not null,
  -- "n" of its last delivery.
  last bigint not null default 0,
  created timestamptz not null default now()
);

create table webhook_delivery (
  webhook text not null references webhook on delete cascade,
  n bigint not null,
  kind text collate "C" not null,
  id text collate "C" not null,
  event jsonb not null,
  status text not null default 'pending' check (status in ('pending', 'delivered')),
  attempts int not null default 0,
  next_attempt timestamptz not null default now(),
  code int,
  error text,
  answer text,
  created timestamptz not null default now(),
  delivered timestamptz,
  primary key (webhook, n)
);
create index webhook_delivery_open on webhook_delivery (webhook, kind, id, n) where status = 'pending';
`,
}, {
  id: "events-3",
  sql: `
-- The transactions before "tx" wrote "before" rows of "outbox" since the database began; "at" is when the next was written.
create table outbox_sequence (
  tx xid8 primary key,
  before bigint not null unique,
  at timestamptz not null
);
create index outbox_sequence_at on outbox_sequence (at);

-- Number of the deleted rows.
alter table outbox_pruned add column rows bigint not null default 0;
`,
}, {
  id: "events-4",
  sql: `
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
`,
}];
