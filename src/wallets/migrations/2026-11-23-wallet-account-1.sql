-- index of its account (hardened): several wallets may share a mnemonic
alter table wallet add column account bigint not null default 0;
