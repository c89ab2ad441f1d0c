-- Failed attempts of effects in the last hour, by minute since 1970. The owner of the partition writes.
create table effect_failure (
  minute int not null,
  partition int not null,
  failures int not null,
  primary key (minute, partition)
) with (fillfactor = 50);
