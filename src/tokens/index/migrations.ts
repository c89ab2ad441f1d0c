/** Tables of the tokens' index. */
import type { Migration } from "#src/store/migrations.ts";

export const cageMigrations: readonly Migration[] = [{
  id: "cage-1",
  sql: `
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
      group by token;`,
}, {
  id: "cage-2",
  sql: `
    -- where in its block a request was made: 65536 times the transaction's index, and the output's. Of requests from before this column
    -- the transaction's index is unknown: those of one block stand in the order of their hashes
    alter table token_request add column position bigint;
    update token_request set position = substr(ref, 66)::int;
    alter table token_request alter position set not null;
    drop index token_request_token_idx;
    create index on token_request (token, from_slot, position);
    create index on token_request (token, owner, from_slot, position);
    create index on token_request (path, from_slot);
    create index on token_request (token, from_slot, position) where to_slot is null;

    -- what became of requests; position: 65536 times the transaction's index, and the place among the requests that it spends.
    -- No row ever ends: a rollback deletes them. entry: token:path, as a fact has it
    create table token_request_end (
      ref text primary key, token text not null, entry text not null, status text not null, tx text, position bigint not null,
      from_slot bigint not null, to_slot bigint);

    -- Of requests that ended before this table was kept: one was applied if its token has a new state in that block and its fact changed
    -- there (or cannot tell); the transaction is that of the state where there is one alone, and unknown of those that were retracted
    insert into token_request_end (ref, token, entry, status, tx, position, from_slot)
      select ref, token, token || ':' || path, case when applied then 'applied' else 'retracted' end,
        case when applied and states = 1 then tx end,
        row_number() over (partition by to_slot order by left(ref, 64), substr(ref, 66)::int), to_slot
      from (
        select r.*, s.states, s.tx, s.states > 0 and (
          r.old_value = r.new_value
          or exists (select 1 from fact f where f.entry = r.token || ':' || r.path
            and (f.from_slot = r.to_slot and f.value = r.new_value or f.to_slot = r.to_slot and r.type = 'delete'))
          or exists (select 1 from token_request o
            where o.token = r.token and o.path = r.path and o.to_slot = r.to_slot and o.ref <> r.ref)
          or exists (select 1 from token_quarantine q where q.token = r.token and q.from_slot <= r.to_slot)) as applied
        from token_request r
        cross join lateral (select count(*) as states, min(left(ref, 64)) as tx from token_state
          where token = r.token and from_slot = r.to_slot) s
        where r.to_slot is not null) ended;
    create index on token_request_end (from_slot);
    create index on token_request_end (token, from_slot, position) where status = 'applied';
    create index on token_request_end (token, from_slot, position) where status = 'retracted';
    create index on token_request_end (entry, from_slot, position) where status = 'applied';

    -- facts by the bytes of their keys; an index takes no key of any length
    create index on fact (token, substr(key, 1, 512), path, from_slot, to_slot);`,
}, {
  id: "cage-3",
  sql: `
    -- wishes of an operator that a token be replayed: how many, and up to which they are answered; no part of the index. The reason is why
    -- the last was not granted
    create table token_release (
      token text primary key, asked bigint not null, answered bigint not null, reason text, since timestamptz not null default now());
    create index on token_release (since) where answered < asked;`,
}, {
  id: "cage-4",
  sql: `
    -- requests that an update refused, from version 3.0.0 of the contract on
    create index on token_request_end (token, from_slot, position) where status = 'refused';`,
}, {
  id: "cage-5",
  sql: `
    -- the transactions that ended tokens; of tokens that ended before this table was kept the transaction is unknown. No row ever ends: a
    -- rollback deletes it
    create table token_end (token text primary key, tx text not null, from_slot bigint not null, to_slot bigint);
    create index on token_end (from_slot);
    create index on token_end (to_slot) where to_slot is not null;`,
}, {
  id: "cage-6",
  sql: `
    -- where in its block a state was made: 65536 times the transaction's index, and the output's. Of states from before this column it is
    -- that of the requests which the transaction ended, and unknown of a transaction that ended none
    alter table token_state add column position bigint;
    update token_state s set position = e.position / 65536 * 65536 + substr(s.ref, 66)::int
      from (select token, from_slot, tx, min(position) as position from token_request_end where tx is not null group by token, from_slot, tx) e
      where e.token = s.token and e.from_slot = s.from_slot and e.tx = left(s.ref, 64);`,
}, {
  id: "cage-7",
  sql: `
    -- the version of the contract whose tokens can apply a request, none where its output carries a script; null of requests from before
    -- this column, which may be of any
    alter table token_request add column policy text;
    -- open requests by what they expect of their key: those that cannot be applied are not read to find the others
    create index on token_request (token, path, (case when type = 'insert' then ''::bytea else sha256(old_value) end), from_slot, position, ref)
      where to_slot is null;
    -- those for one key by age
    create index on token_request (token, path, from_slot, position, ref) where to_slot is null;
    -- all in the ledger's order of outputs
    create index on token_request (token, left(ref, 64), (substr(ref, 66)::int)) where to_slot is null;`,
}];
