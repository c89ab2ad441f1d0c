/** Tables of the wallets' index. */
import type { Migration } from "#src/store/migrations.ts";
import { seenMigrations } from "#src/wallets/seen/migrations.ts";

export const walletIndexMigrations: readonly Migration[] = [{
  id: "wallet-index-1",
  sql: `
    -- what a fold has to know of a wallet. account: what its credentials are derived from (JSON; the deriver knows it); prefix: path of
    -- the account, 1852H/1815H/0H; stake: key-<hash> or script-<hash>; path_key: opens the paths in addresses of a random wallet
    create table wallet_index (
      wallet text primary key, kind text not null, network int not null, gap int not null, prefix text not null,
      account text not null, stake text, path_key text);
    create index on wallet_index (stake) where stake is not null;
    create index on wallet_index (kind);

    -- the stock: credentials derived in advance, of which a wallet's pools reach over the first. Of a random wallet the addresses that it
    -- made or imported: role and index are the hardened numbers of its path, address its bytes in hexadecimal
    create table wallet_address (
      wallet text not null, role bigint not null, index bigint not null, credential text not null, address text,
      primary key (wallet, role, index));
    create index on wallet_address (credential);
    -- how many credentials of a role there are in stock: indices 0 to count - 1
    create table wallet_stock (wallet text not null, role int not null, count int not null, primary key (wallet, role));

    -- how far a pool reaches: indices 0 to size - 1; used is the last used one or -1
    create table wallet_pool (
      wallet text not null, role int not null, size int not null, used int not null, from_slot bigint not null, to_slot bigint,
      primary key (wallet, role, from_slot));
    create unique index on wallet_pool (wallet, role) where to_slot is null;
    create index on wallet_pool (from_slot);
    create index on wallet_pool (to_slot) where to_slot is not null;

    -- first use of an address; address is set where it follows from nothing else (random wallets)
    create table wallet_use (
      wallet text not null, role bigint not null, index bigint not null, credential text not null, address text,
      from_slot bigint not null, to_slot bigint, primary key (wallet, role, index));
    create index on wallet_use (credential);
    create index on wallet_use (from_slot);
    create index on wallet_use (to_slot) where to_slot is not null;

    create table wallet_utxo (
      wallet text not null, ref text not null, role bigint not null, index bigint not null, coin bigint not null,
      output bytea not null, from_slot bigint not null, to_slot bigint, primary key (wallet, ref));
    create index on wallet_utxo (ref);
    create index on wallet_utxo (wallet) where to_slot is null;
    create index on wallet_utxo (from_slot);
    create index on wallet_utxo (to_slot) where to_slot is not null;

    -- what a wallet holds: of lovelace (asset '') and of each asset that it ever held. entry: wallet:asset
    create table wallet_holding (
      entry text not null, wallet text not null, asset text not null, quantity numeric not null, from_slot bigint not null,
      to_slot bigint, primary key (entry, from_slot));
    create unique index on wallet_holding (entry) where to_slot is null;
    create index on wallet_holding (wallet) where to_slot is null;
    create index on wallet_holding (from_slot);
    create index on wallet_holding (to_slot) where to_slot is not null;

    -- transactions that concern a wallet. net: what it has more (or less) afterwards, in lovelace; withdrawal: the greatest in it;
    -- addresses: of its outputs and of the inputs that were the wallet's
    create table wallet_transaction (
      wallet text not null, hash text not null, height bigint not null, index int not null, block_hash text not null, era int not null,
      valid boolean not null, body bytea not null, witnesses bytea not null, auxiliary bytea, net bigint not null, fee bigint,
      deposit_taken bigint not null, deposit_returned bigint not null, withdrawal bigint, addresses text[] not null,
      from_slot bigint not null, to_slot bigint, primary key (wallet, hash));
    create index on wallet_transaction (wallet, from_slot, index);
    create index on wallet_transaction (hash);
    create index on wallet_transaction (from_slot);
    create index on wallet_transaction (to_slot) where to_slot is not null;`,
}, {
  id: "wallet-index-2",
  sql: `
    -- of what is live alone: a partial index seems so small to a planner without statistics that it reads all of it for anything
    drop index wallet_pool_wallet_role_idx;
    create index on wallet_pool (wallet, to_slot);
    drop index wallet_utxo_wallet_idx;
    create index on wallet_utxo (wallet, to_slot);
    drop index wallet_holding_entry_idx;
    create index on wallet_holding (entry, to_slot);
    drop index wallet_holding_wallet_idx;
    create index on wallet_holding (wallet, to_slot);`,
}, {
  id: "wallet-index-3",
  sql: `
    -- addresses (bytes in hexadecimal) that carry a path of a random wallet and have none of its keys, as far as
    -- addresses were checked with the root key
    create table wallet_forged (wallet text not null, address text not null, primary key (wallet, address));
    -- so that one path of a random wallet may be found in several addresses
    alter table wallet_use drop constraint wallet_use_pkey;
    alter table wallet_use add primary key (wallet, role, index, credential);`,
}, {
  id: "wallet-index-4",
  sql: `
    -- whether an address of a random wallet was made with its root key, so that change may go there; unknown for those stored
    -- before
    alter table wallet_address add column made boolean not null default false;`,
}, {
  id: "wallet-index-5",
  sql: `
    -- the whole order of a history: a plan for any number of rows would otherwise sort all rows of a wallet for its first page
    drop index wallet_transaction_wallet_from_slot_index_idx;
    create index on wallet_transaction (wallet, from_slot, index, hash);`,
}, {
  id: "wallet-index-6",
  sql: `
    -- parts of the first pools of a wallet with a great gap, kept until all are there: hashes of 28 bytes from the index start on
    create table wallet_slice (
      wallet text not null, life int not null, role int not null, start int not null, hashes bytea not null,
      primary key (wallet, life, role, start));`,
}, {
  id: "wallet-index-7",
  sql: `
    -- creation count: events of an earlier incarnation are ignored; null for wallets that were added before
    alter table wallet_index add column life int;`,
}, {
  id: "wallet-index-8",
  sql: `
    -- receiving addresses that were given to a payer and are not used yet; reference: the caller's name of the reservation
    create table wallet_reserved (
      wallet text not null, role bigint not null, index bigint not null, until timestamptz not null, reference text,
      primary key (wallet, role, index));
    create unique index on wallet_reserved (wallet, reference);`,
}, {
  id: "wallet-index-9",
  sql: `
    -- earlier releases took addresses whose key is at the hardened form of the recorded index for forged ones; the next signature finds
    -- those that are
    delete from wallet_forged;`,
}, ...seenMigrations];
