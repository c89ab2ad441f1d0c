-- blocks whose roots of the unspent outputs stay: those whose heights are multiples of a number. known: the root is there
create table chain_output_snapshot (
  slot bigint primary key, hash text not null, height bigint not null, known boolean not null default false, root bytea);
create index on chain_output_snapshot (hash) where not known;
