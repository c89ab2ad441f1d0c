-- Byron transactions do not state their fee
alter table chain_transaction alter fee drop not null;
