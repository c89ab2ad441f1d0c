-- wishes of an operator that a token be replayed: how many, and up to which they are answered; no part of the index. The reason is why
-- the last was not granted
create table token_release (
  token text primary key, asked bigint not null, answered bigint not null, reason text, since timestamptz not null default now());
create index on token_release (since) where answered < asked;
