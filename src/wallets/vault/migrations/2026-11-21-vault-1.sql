-- encrypted root keys, each under the attempt to create a wallet that put it there
create table vault_key (
  attempt text primary key, style text not null, root text not null, method text not null, sealed bytea not null,
  verifier bytea, updated_at timestamptz not null default now(), put_at timestamptz not null default now());
create index on vault_key (put_at);

-- whose the keys are; written by turns of wallets alone. What was swept cannot be adopted, and what was adopted is not swept.
create table vault_adoption (wallet text primary key, attempt text not null unique references vault_key);
