-- what wallets' stake credentials do, and their rewards; the rows belong to wallets of the index

-- what the certificates of a block leave; deposit: null where they state none. Ended rows are the history. epoch -1: reported by
-- the network for a credential whose certificates are before the blocks that are read
create table wallet_delegation (
  wallet text not null, credential text not null, epoch bigint not null, registered boolean not null, deposit bigint,
  pool text, drep text, from_slot bigint not null, to_slot bigint, primary key (wallet, from_slot));
create unique index on wallet_delegation (wallet) where to_slot is null;
create index on wallet_delegation (credential);
create index on wallet_delegation (from_slot);
create index on wallet_delegation (to_slot) where to_slot is not null;
create view wallet_delegation_history as select * from wallet_delegation;

-- epochs in which something begins to count
create table wallet_delegation_due (
  wallet text not null, credential text not null, due bigint not null, from_slot bigint not null, to_slot bigint,
  primary key (wallet, due, from_slot));
create index on wallet_delegation_due (due) where to_slot is null;
create index on wallet_delegation_due (credential) where to_slot is null;
create index on wallet_delegation_due (from_slot);
create index on wallet_delegation_due (to_slot) where to_slot is not null;

-- account balance as queried from the network, less later withdrawals; epoch: of the point of the query
create table wallet_reward (
  wallet text not null, credential text not null, epoch bigint not null, rewards bigint not null,
  from_slot bigint not null, to_slot bigint, primary key (wallet, from_slot));
create unique index on wallet_reward (wallet) where to_slot is null;
create index on wallet_reward (credential) where to_slot is null;
create index on wallet_reward (from_slot);
create index on wallet_reward (to_slot) where to_slot is not null;
