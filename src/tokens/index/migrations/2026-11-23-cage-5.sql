-- the transactions that ended tokens; of tokens that ended before this table was kept the transaction is unknown. No row ever ends: a
-- rollback deletes it
create table token_end (token text primary key, tx text not null, from_slot bigint not null, to_slot bigint);
create index on token_end (from_slot);
create index on token_end (to_slot) where to_slot is not null;
