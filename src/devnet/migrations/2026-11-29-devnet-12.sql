-- constitution, committee, representatives and delegations of the genesis
alter table devnet_meta add column governance jsonb;
