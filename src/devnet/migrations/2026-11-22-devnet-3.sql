-- Genesis setting: the first epoch of other parameters, and these. Null: the parameters never change.
alter table devnet_meta add column hard_fork_epoch int, add column hard_fork_parameters json;
