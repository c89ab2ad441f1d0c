-- the network whose pool, funds and constitution the genesis has
alter table devnet_meta add column likeness text;
