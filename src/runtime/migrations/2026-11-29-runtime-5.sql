-- What actors are searched by, as their kinds declare it. A time is a number: milliseconds since 1970.
create table actor_attribute (
  kind text collate "C" not null,
  id text collate "C" not null,
  name text collate "C" not null,
  text text collate "C",
  number numeric,
  primary key (kind, id, name),
  check (num_nonnulls(text, number) = 1)
);
create index actor_attribute_text on actor_attribute (kind, name, text, id) where text is not null;
create index actor_attribute_number on actor_attribute (kind, name, number, id) where number is not null;
