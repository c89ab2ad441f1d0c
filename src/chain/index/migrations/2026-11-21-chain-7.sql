-- one index for each look-up, by wallet and by hash
drop index submission_wallet_wallet_idx;
alter table submission_wallet drop constraint submission_wallet_pkey;
alter table submission_wallet add primary key (wallet, hash);
create index on submission_wallet (hash);
create index on chain_member (member);
