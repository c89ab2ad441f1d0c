-- how far the log has the index's history: everything up to "slot". A rollback below it sets "undone_to" until the log has said so
create table log_head (
  one boolean primary key default true check (one), slot bigint not null, undone_to bigint, size bigint not null);
insert into log_head (slot, size) values (-1, 0);

-- entries in their order; "seq" counts the states of a token. "withdrawn": a rollback took its block away after it was logged
create table log_entry (
  n bigint primary key, entry text not null, token text, seq bigint, ref text, slot bigint not null,
  withdrawn boolean not null default false);
create index on log_entry (token, seq);
create index on log_entry (ref);
create index on log_entry (slot);

-- hashes of each tile, 32 bytes each; the last one of a level grows
create table log_tile (level int not null, n bigint not null, hashes bytea not null, primary key (level, n));

-- the newest signed checkpoints, and what witnesses said of them
create table log_checkpoint (size bigint primary key, note text not null, made_at timestamptz not null default now());
create table log_cosignature (
  size bigint not null references log_checkpoint on delete cascade, witness text not null, line text not null,
  primary key (size, witness));

-- keys that sign: a secret. purpose: log or witness
create table log_key (purpose text primary key, seed bytea not null, made_at timestamptz not null default now());

-- witnesses by URL: the size that each signed last
create table log_witness (url text primary key, size bigint not null);

-- as a witness: the newest checkpoint that was signed of each log, with the signature
create table log_witnessed (
  origin text primary key, size bigint not null, root bytea not null, note text not null, line text not null);
