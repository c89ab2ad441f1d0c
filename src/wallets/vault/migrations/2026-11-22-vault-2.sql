-- wrong passphrases since the last right one, and until when none is tried, by this server's clock
alter table vault_key add column wrong int not null default 0,
  add column closed_until timestamptz not null default '-infinity';
