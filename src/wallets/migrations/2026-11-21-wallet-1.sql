create table wallet (
  id text primary key, life int not null, kind text not null, name text not null, gap int not null,
  -- account public key and chain code (of a random wallet those of its root), in hexadecimal
  key text not null, policy_key text,
  passphrase_at timestamptz, passphrase_method text,
  birth_slot bigint not null, birth_hash text not null,
  one_change boolean not null, selection text not null, created_at timestamptz not null);
create index on wallet (kind, created_at, id);
