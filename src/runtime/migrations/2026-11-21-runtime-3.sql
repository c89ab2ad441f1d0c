-- "draining": the worker stops. "suspect": since when it does not answer. "wanted": the owner an operator chose.
alter table worker add column draining boolean not null default false;
alter table worker add column suspect timestamptz;
alter table partition add column wanted text;
