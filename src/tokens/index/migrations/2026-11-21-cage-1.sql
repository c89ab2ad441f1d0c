-- state outputs; the live one of a token is its state now
create table token_state (
  ref text primary key, token text not null, owner text not null, root text not null, output bytea not null,
  -- how many facts stand under the root, and whether their sub-tree hashes are kept in token_bucket
  facts int not null, cut boolean not null, from_slot bigint not null, to_slot bigint);
create index on token_state (token, from_slot);
create index on token_state (from_slot);
create index on token_state (to_slot) where to_slot is not null;

create view token_history as select distinct token from token_state;

create table token_quarantine (
  token text not null, reason text not null, from_slot bigint not null, to_slot bigint, primary key (token, from_slot));

create table token_request (
  ref text primary key, token text not null, owner text not null, refund_address text not null, fee bigint not null,
  type text not null, path text not null, key bytea not null, old_value bytea, new_value bytea, lovelace bigint not null,
  output bytea not null, from_slot bigint not null, to_slot bigint);
create index on token_request (token) where to_slot is null;
create index on token_request (from_slot);
create index on token_request (to_slot) where to_slot is not null;

-- path: digest of the key; entry: token:path; bucket: token:first three nibbles of the path
create table fact (
  entry text not null, token text not null, bucket text not null, path text not null, key bytea not null,
  value bytea not null, digest bytea not null, from_slot bigint not null, to_slot bigint, primary key (entry, from_slot));
create unique index on fact (entry) where to_slot is null;
create index on fact (token) where to_slot is null;
create index on fact (bucket) where to_slot is null;
create index on fact (from_slot);
create index on fact (to_slot) where to_slot is not null;

-- hashes of the sub-trees at depth 3 of a large token's facts
create table token_bucket (
  token text not null, bucket int not null, hash bytea not null, from_slot bigint not null, to_slot bigint,
  primary key (token, bucket, from_slot));
create index on token_bucket (token) where to_slot is null;
create index on token_bucket (from_slot);
create index on token_bucket (to_slot) where to_slot is not null;

-- what tries are made of, packed by the database: rows of a large token would take seconds to come across
create view token_leaves as
  select token, string_agg(decode(path, 'hex') || digest, ''::bytea) as leaves from fact where to_slot is null group by token;
create view bucket_leaves as
  select bucket, string_agg(decode(path, 'hex') || digest, ''::bytea) as leaves from fact where to_slot is null group by bucket;
create view token_cut as
  select token, string_agg(int2send(bucket::int2) || hash, ''::bytea) as hashes from token_bucket where to_slot is null
  group by token;
