-- The transactions before "tx" wrote "before" rows of "outbox" since the database began; "at" is when the next was written.
create table outbox_sequence (
  tx xid8 primary key,
  before bigint not null unique,
  at timestamptz not null
);
create index outbox_sequence_at on outbox_sequence (at);

-- Number of the deleted rows.
alter table outbox_pruned add column rows bigint not null default 0;
