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
create index on devnet_index_reward (height);
