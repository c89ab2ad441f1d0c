-- lovelace that signatures may let out of a wallet in 24 hours
create table wallet_limit (wallet text primary key, per_day numeric not null);
-- what signed transactions let out of a wallet with a limit; valid_to: the first slot in which no block can include it
create table wallet_spend (
  wallet text not null, hash text not null, amount numeric not null, valid_to bigint, primary key (wallet, hash));
