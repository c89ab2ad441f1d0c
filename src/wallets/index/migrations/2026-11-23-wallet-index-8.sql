-- receiving addresses that were given to a payer and are not used yet; reference: the caller's name of the reservation
create table wallet_reserved (
  wallet text not null, role bigint not null, index bigint not null, until timestamptz not null, reference text,
  primary key (wallet, role, index));
create unique index on wallet_reserved (wallet, reference);
