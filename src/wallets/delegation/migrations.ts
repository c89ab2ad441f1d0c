/** Tables of what wallets' stake credentials do, and of their rewards. Their rows belong to wallets of the index. */
import type { Migration } from "#src/store/migrations.ts";

export const delegationMigrations: readonly Migration[] = [{
  id: "wallet-delegation-1",
  sql: `
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
    create index on wallet_reward (to_slot) where to_slot is not null;`,
}, {
  id: "wallet-delegation-2",
  sql: `
    -- of what is live alone: a partial index seems so small to a planner without statistics that it reads all of it for anything
    drop index wallet_delegation_wallet_idx;
    create index on wallet_delegation (wallet, to_slot);
    drop index wallet_reward_wallet_idx;
    create index on wallet_reward (wallet, to_slot);`,
}, {
  id: "wallet-delegation-3",
  sql: `
    -- accounts whose vote ends with their DRep
    create index on wallet_delegation (drep, to_slot);`,
}];
