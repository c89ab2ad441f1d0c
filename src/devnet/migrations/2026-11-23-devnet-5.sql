-- Genesis settings: default accounts. An earlier devnet has none.
-- slots_ahead: by how many slots the devnet runs ahead of the time since its slot 0.
alter table devnet_meta
  add column accounts int not null default 0, add column account_funds bigint not null default 0,
  add column slots_ahead bigint not null default 0;
