-- incremented when members join or leave a cursor; a batch computed under an older generation is not written
alter table chain_cursor add column generation bigint not null default 0;

-- members (wallets, tokens), indexed from the block after their start point; cursor: null if none is assigned; gone: dismissed
create table chain_member (
  projection text not null, member text not null, birth_slot bigint not null, birth_hash text not null,
  cursor text references chain_cursor (id), gone boolean not null default false, primary key (projection, member));
create index on chain_member (cursor) where cursor is distinct from 'main' or gone;

create sequence chain_restoring;
create index on chain_block (height);
create index on chain_block (hash);
