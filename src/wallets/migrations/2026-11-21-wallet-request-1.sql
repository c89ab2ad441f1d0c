-- named requests that spend; what is secret is not in the fingerprint
create table wallet_request (
  scope text not null, key text not null, fingerprint text not null, attempt text not null, begun_at timestamptz not null default now(),
  transaction bytea, primary key (scope, key));
create index on wallet_request (begun_at);
