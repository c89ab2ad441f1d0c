-- addresses (bytes in hexadecimal) that carry a path of a random wallet and have none of its keys, as far as
-- addresses were checked with the root key
create table wallet_forged (wallet text not null, address text not null, primary key (wallet, address));
-- so that one path of a random wallet may be found in several addresses
alter table wallet_use drop constraint wallet_use_pkey;
alter table wallet_use add primary key (wallet, role, index, credential);
