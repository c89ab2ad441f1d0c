-- payments in the network's mempool; the index erases the rows with their wallet

-- transactions of the mempool that pay a wallet or spend its outputs, of which its actor has the event SEEN and neither a block nor
-- WITHDRAWN yet. amount, assets (JSON): what the wallet gains or loses; addresses: its own among the outputs; inputs: what the
-- transaction spends; slot and height: of the index when it was seen; absent: consecutive reads of the mempool that lack it
create table wallet_seen (
  n bigserial not null unique, wallet text not null, hash text not null, direction text not null, amount text not null,
  assets text not null, addresses text[] not null, cut boolean not null, inputs text[] not null, valid_to bigint,
  slot bigint not null, height bigint not null, absent int not null default 0, primary key (wallet, hash));
create index on wallet_seen (wallet, n);
create index on wallet_seen (hash);
