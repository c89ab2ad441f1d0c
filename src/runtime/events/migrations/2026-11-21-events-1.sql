create index outbox_tx on outbox (tx);

-- How far the transitions of the past were deleted: those of this transaction and of all before it.
create table outbox_pruned (
  one boolean primary key default true check (one),
  tx xid8 not null
);
insert into outbox_pruned (tx) values ('0');
