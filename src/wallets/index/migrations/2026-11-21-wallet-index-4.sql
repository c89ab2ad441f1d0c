-- whether an address of a random wallet was made with its root key, so that change may go there; of those that were kept before nobody
-- can tell
alter table wallet_address add column made boolean not null default false;
