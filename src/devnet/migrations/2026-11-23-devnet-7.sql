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
delete from devnet_side_index;
