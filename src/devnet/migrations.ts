/** Tables of the devnet: the chain it makes, the outputs of that chain, and what waits to be in it. */
import type { Migration } from "#src/store/migrations.ts";

export const devnetMigrations: readonly Migration[] = [{
  id: "devnet-1",
  sql: `
    -- the genesis; the highest slot that ever held a block (one that was rolled back included); the height below which nothing is undone
    create table devnet_meta (
      one boolean primary key default true check (one),
      magic bigint not null, network_id smallint not null, genesis_time bigint not null, slot_length int not null,
      security_parameter int not null, parameters json not null, parameters_source text not null,
      faucet_seed bytea not null, issuer bytea not null, last_slot bigint not null default -1,
      floor_height bigint not null default -1);

    -- a block without transactions is a function of its other columns, and keeps no bytes; changes: of devnet_entry, with what was before
    create table devnet_block (
      height bigint primary key, slot bigint not null unique, hash text not null unique, previous text, issuer bytea not null,
      major smallint not null, minor smallint not null, transactions int not null, cbor bytea, changes json);

    create table devnet_transaction (hash text primary key, height bigint not null);
    create index on devnet_transaction (height);

    -- outputs, from the block that created them to the block that spent them; -1 is the genesis
    create table devnet_utxo (
      tx_hash text, index int, address text not null, cbor bytea not null, created_height bigint not null, spent_height bigint,
      primary key (tx_hash, index));
    create index on devnet_utxo (address) where spent_height is null;
    create index on devnet_utxo (created_height);
    create index on devnet_utxo (spent_height) where spent_height is not null;

    -- what the ledger knows beside outputs: accounts, pools, representatives, committee, pots
    create table devnet_entry (kind text, key text, value json not null, primary key (kind, key));

    -- transactions in the order in which they were accepted
    create table devnet_mempool (position bigint primary key, hash text not null unique, cbor bytea not null);`,
}, {
  id: "devnet-2",
  sql: `
    -- Genesis settings. Their defaults are for a devnet that began before there were epochs: all lovelace is the faucet's, no pool.
    alter table devnet_meta
      add column epoch_length int not null default 432000, add column max_supply bigint not null default 30000000000000000,
      add column reserves bigint not null default 0, add column treasury bigint not null default 0,
      add column pledge bigint not null default 0, add column faucet_funds bigint not null default 30000000000000000,
      add column draw_seed bytea not null default '\\x', add column pools_url text;

    -- Cold keys of pools, by which blocks name their issuer: those of the genesis, in order, with all that they are made of, and those
    -- that registered later.
    create table devnet_pool (
      pool text primary key, cold_key bytea not null, position int unique, cold_seed bytea, owner_seed bytea, payment_seed bytea,
      metadata text);

    -- lovelace of a stake credential: base addresses end with it
    create index on devnet_utxo (substr(address, 59)) where spent_height is null;`,
}, {
  id: "devnet-3",
  sql: `
    -- Genesis setting: the first epoch of other parameters, and these. Null: the parameters never change.
    alter table devnet_meta add column hard_fork_epoch int, add column hard_fork_parameters json;`,
}, {
  id: "devnet-4",
  sql: `
    -- Index of the whole chain (src/devnet/index). Every row names the block that it came from (height -1: the genesis), so a
    -- rollback deletes rows above a height and reopens outputs that were spent above it. Hashes, addresses and units are
    -- hexadecimal, credentials are k or s and 56 digits, amounts are lovelace, tx_index counts from 0 in the block. What only one
    -- transaction says (certificates of other kinds, required signers, the inputs of each kind) is read from its bytes in
    -- devnet_index_tx; the other tables answer questions across transactions. A transaction that failed in phase 2 has rows only
    -- for the outputs that it spent and created.

    -- the newest block that is in the index; no row, or another block than the chain's newest: the index must be built again
    create table devnet_index (one boolean primary key default true check (one), height bigint not null, hash text not null);

    -- beside devnet_block; size: bytes of the body; output, fees: of its transactions, null without any; pool: null for the issuer
    -- of blocks that no pool can produce
    create table devnet_index_block (
      height bigint primary key, epoch int not null, size int not null, output numeric, fees bigint, pool text);
    create index on devnet_index_block (epoch, height);
    create index on devnet_index_block (pool, height) where pool is not null;

    -- deposit: what deposits grow by, negative for refunds; size: without the flag of validity, as the ledger counts;
    -- cbor: [body, witnesses, valid, auxiliary data]
    create table devnet_index_tx (
      height bigint, tx_index int, hash text not null unique, fee bigint not null, deposit bigint not null, size int not null,
      valid boolean not null, cbor bytea not null, primary key (height, tx_index));

    -- every output that ever was, the collateral return of a failed transaction too; datum_hash: also of an inline datum;
    -- datum: CBOR of an inline datum; spent_index: position of the spending transaction in its block. The columns of the spend have no
    -- index, and pages have room for changed rows, so that a spend changes no index.
    create table devnet_index_output (
      tx_hash text, index int, height bigint not null, tx_index int not null, address text not null, payment text, stake text,
      lovelace bigint not null, datum_hash text, datum bytea, script_hash text,
      spent_height bigint, spent_index int, spent_tx text, primary key (tx_hash, index)) with (fillfactor = 70);
    create index on devnet_index_output (address, height, tx_index, index);
    create index on devnet_index_output (payment, height, tx_index, index) where payment is not null;
    create index on devnet_index_output (stake, height, tx_index, index) where stake is not null;

    -- assets in an output
    create table devnet_index_asset (
      tx_hash text, index int, unit text, quantity numeric not null, height bigint not null, primary key (tx_hash, index, unit));
    create index on devnet_index_asset (unit, height);

    -- the transactions that spent or created outputs at an address
    create table devnet_index_address (
      address text, height bigint, tx_index int, payment text, stake text, tx_hash text not null,
      primary key (address, height, tx_index));
    create index on devnet_index_address (payment, height, tx_index) where payment is not null;
    create index on devnet_index_address (stake, height, tx_index) where stake is not null;
    create index on devnet_index_address (height);

    -- the transactions with an output that holds an asset
    create table devnet_index_asset_tx (
      unit text, height bigint, tx_index int, tx_hash text not null, primary key (unit, height, tx_index));
    create index on devnet_index_asset_tx (height);

    -- quantity: negative where it is burned
    create table devnet_index_mint (
      unit text, height bigint, tx_index int, tx_hash text not null, quantity numeric not null,
      primary key (unit, height, tx_index));
    create index on devnet_index_mint (height);

    -- cbor: of the value under the label
    create table devnet_index_metadata (
      label numeric, height bigint, tx_index int, tx_hash text not null, cbor bytea not null,
      primary key (label, height, tx_index));
    create index on devnet_index_metadata (height);

    -- scripts of witness sets, of outputs and of auxiliary data, at their first appearance; kind: timelock, plutusV1, plutusV2,
    -- plutusV3; bytes: CBOR of a native script, else what the byte string holds
    create table devnet_index_script (
      hash text primary key, height bigint not null, tx_index int not null, kind text not null, bytes bytea not null);
    create index on devnet_index_script (height);

    -- datums of witness sets, inline datums, and the data of redeemers, at their first appearance
    create table devnet_index_datum (hash text primary key, height bigint not null, cbor bytea not null);
    create index on devnet_index_datum (height);

    -- purpose: spend, mint, cert, reward, vote, propose; fee: price of its units alone, rounded up
    create table devnet_index_redeemer (
      height bigint, tx_index int, purpose text, index int, tx_hash text not null, script_hash text not null,
      data_hash text not null, memory bigint not null, steps bigint not null, fee bigint not null,
      primary key (height, tx_index, purpose, index));
    create index on devnet_index_redeemer (script_hash, height, tx_index);

    -- Certificates that took effect, one row for each part of a combined one; those of the genesis with height -1 and epoch 0.
    -- kind: register, deregister, delegate, vote, pool, retire, drep_register, drep_deregister; credential: of the account;
    -- drep: a credential, abstain, or no confidence; epoch: of retirement, or the first in which it counts for block production;
    -- deposit: negative for refunds, null where none is paid (a pool that changes)
    create table devnet_index_certificate (
      height bigint, tx_index int, cert_index int, part int, tx_hash text not null, kind text not null,
      credential text, pool text, drep text, epoch int, deposit bigint, cbor bytea not null,
      primary key (height, tx_index, cert_index, part));
    create index on devnet_index_certificate (credential, height, tx_index) where credential is not null;
    create index on devnet_index_certificate (pool, height, tx_index) where pool is not null;
    create index on devnet_index_certificate (drep, height, tx_index) where drep is not null;

    create table devnet_index_withdrawal (
      credential text, height bigint, tx_index int, tx_hash text not null, amount bigint not null,
      primary key (credential, height, tx_index));
    create index on devnet_index_withdrawal (height);

    -- epochs that began, at the block that crossed into them (height -1: epoch 0); pots: at its beginning; active_stake: that counts
    -- for block production in it, null where there is none
    create table devnet_index_epoch (
      epoch int primary key, height bigint not null, parameters json not null, pots json not null, active_stake bigint);
    create index on devnet_index_epoch (height);

    -- stake that counts for block production in an epoch, accounts without lovelace included; known one epoch before
    create table devnet_index_stake (
      epoch int, pool text, credential text, lovelace bigint not null, height bigint not null,
      primary key (epoch, pool, credential));
    create index on devnet_index_stake (credential, epoch);
    create index on devnet_index_stake (height);

    -- rewards and the deposits of retired pools; kind: leader, member, pool_deposit_refund; earned: the epoch whose blocks it is
    -- for, or that of the retirement; spendable: the epoch at whose beginning it is paid; paid: false where the account does not
    -- exist then, and the treasury gets it
    create table devnet_index_reward (
      earned int, spendable int not null, credential text, pool text, kind text, amount bigint not null, paid boolean not null,
      height bigint not null, primary key (earned, credential, pool, kind));
    create index on devnet_index_reward (credential, earned);
    create index on devnet_index_reward (pool, earned);
    create index on devnet_index_reward (height);`,
}, {
  id: "devnet-5",
  sql: `
    -- Genesis settings: default accounts. An earlier devnet has none.
    -- slots_ahead: by how many slots the devnet runs ahead of the time since its slot 0.
    alter table devnet_meta
      add column accounts int not null default 0, add column account_funds bigint not null default 0,
      add column slots_ahead bigint not null default 0;`,
}, {
  id: "devnet-6",
  sql: `
    -- Named states to restore: the block that was the newest (hash empty: none) and the mempool at that moment.
    create table devnet_snapshot (
      name text primary key, height bigint not null, slot bigint not null, hash text not null, saved timestamptz not null default now());
    create table devnet_snapshot_mempool (
      name text references devnet_snapshot on delete cascade, position bigint, hash text not null, cbor bytea not null,
      primary key (name, position));

    -- Blocks that left the chain while a snapshot needs them, with the outputs that each created and spent.
    create table devnet_side_block (like devnet_block, primary key (hash));
    create index on devnet_side_block (height);
    create table devnet_side_transaction (block text, hash text, primary key (block, hash));
    create table devnet_side_output (
      block text, tx_hash text, index int, address text not null, cbor bytea not null, primary key (block, tx_hash, index));
    create table devnet_side_spend (block text, tx_hash text, index int, primary key (block, tx_hash, index));
    -- their rows in the index, by its table; of the relation spend: the outputs that the block spends
    create table devnet_side_index (block text, relation text, rows json not null, primary key (block, relation));`,
}, {
  id: "devnet-7",
  sql: `
    -- Governance: certificates of the kind drep_update, proposals and votes. kind: parameters, hard fork, treasury, no confidence,
    -- committee, constitution, info; epoch: in which it was made; cbor: the whole proposal.
    create table devnet_index_proposal (
      height bigint, tx_index int, index int, tx_hash text not null, kind text not null, epoch int not null,
      cbor bytea not null, primary key (height, tx_index, index));
    create index on devnet_index_proposal (tx_hash, index);

    -- role: committee, drep, pool; voter: key of the credential (a pool: k and its id); vote: yes, no, abstain
    create table devnet_index_vote (
      height bigint, tx_index int, vote_index int, tx_hash text not null, role text not null, voter text not null,
      action_tx text not null, action_index int not null, vote text not null, url text, url_hash text,
      primary key (height, tx_index, vote_index));
    create index on devnet_index_vote (action_tx, action_index, height);
    create index on devnet_index_vote (voter, height);

    -- the fingerprint of the asset, by which it is searched
    alter table devnet_index_mint add column fingerprint text;
    create index on devnet_index_mint (fingerprint);

    -- Transactions that were refused, or left the mempool or the chain without a block: the last 500. failures: the ledger's reasons.
    create table devnet_departure (
      hash text primary key, position bigserial, cbor bytea not null, kind text not null,
      why text not null, failures json not null, at bigint not null, slot bigint not null);
    create index on devnet_departure (position);

    -- the index is built again at the next start: its rows lack these
    delete from devnet_index;
    delete from devnet_side_index;`,
}, {
  id: "devnet-8",
  sql: `
    -- Time goes back with a rollback, so a slot may hold a block again. fork: how often the chain was rolled back, and of a block,
    -- when it was made: blocks of two forks differ by it. A devnet of before may have undone blocks at slots after its newest block.
    alter table devnet_meta add column fork bigint not null default 0, drop column last_slot;
    update devnet_meta set fork = 1;
    alter table devnet_block add column fork bigint not null default 0;
    alter table devnet_side_block add column fork bigint not null default 0;

    -- The clock of a snapshot: by how many slots it ran ahead, mode of mining and ms between blocks; null in those of before.
    alter table devnet_snapshot add column slots_ahead bigint, add column mining text, add column block_ms int;`,
}];
