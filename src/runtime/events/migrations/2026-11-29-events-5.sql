-- Generations of the log: one begins with each restore of the database to an earlier point. The id of its transactions in
-- "outbox" is the server's, raised by "shift", so that every later generation lies above what a lost one can have used.
-- Positions before "first" were given by earlier generations; those up to "restored_to" are valid.
create table event_generation (
  n int primary key,
  id text not null unique,
  first xid8 not null,
  shift bigint not null,
  restored_to xid8 not null,
  reason text not null,
  began timestamptz not null default now(),
  streams_due boolean not null default false
);
insert into event_generation (n, id, first, shift, restored_to, reason) values (0, '', '0', 0, '0', 'first');

-- The generation of a row is a default, so that turns need not know it.
alter table outbox add column generation text not null default '';

-- The server on which the log was written last: another one, or another timeline, may mean a restore.
create table event_server (
  one boolean primary key default true check (one),
  system text not null,
  timeline int not null,
  relation text not null
);
