-- Durable consumers, with how far each has come.
create table jetstream_consumer (
  stream text collate "C" not null,
  name text collate "C" not null,
  config jsonb not null,
  state jsonb not null,
  created timestamptz not null default now(),
  primary key (stream, name)
);
