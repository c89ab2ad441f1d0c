-- What became of governance actions. outcome: ratified, enacted, expired, dropped; epoch: the one that began
create table devnet_index_outcome (
  height bigint, action_tx text, action_index int, outcome text, epoch int not null,
  primary key (action_tx, action_index, outcome));
create index on devnet_index_outcome (height);
