-- creation count: events of an earlier incarnation are ignored; null for wallets that were added before
alter table wallet_index add column life int;
