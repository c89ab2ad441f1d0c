-- whether an address of a random wallet was made with its root key, so that change may go there; unknown for those stored
-- before
alter table wallet_address add column made boolean not null default false;
