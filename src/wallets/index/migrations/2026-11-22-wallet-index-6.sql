-- parts of the first pools of a wallet with a great gap, kept until all are there: hashes of 28 bytes from the index start on
create table wallet_slice (
  wallet text not null, life int not null, role int not null, start int not null, hashes bytea not null,
  primary key (wallet, life, role, start));
