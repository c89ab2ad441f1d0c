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
