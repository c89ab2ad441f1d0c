-- status of submissions, for the wallets that list them; lapsed_until: a rollback below this slot makes an expired one valid.
-- Written only by turns of actors; lapsed_until becomes null once no rollback can reach its slot
create table submission_status (hash text primary key, status text not null, lapsed_until bigint);
create index on submission_status (lapsed_until) where lapsed_until is not null;
-- wallets that list a submission until it is in the ledger; since_slot, since_height: the main cursor at submission
create table submission_wallet (
  hash text not null, wallet text not null, since_slot bigint not null, since_height bigint not null,
  primary key (hash, wallet));
create index on submission_wallet (wallet);
insert into submission_status (hash, status, lapsed_until)
  select hash, case when exists (select 1 from submission_open o where o.hash = s.hash) then 'pending' else 'in_ledger' end, null
  from submission s where exists (select 1 from submission_open o where o.hash = s.hash)
    or exists (select 1 from chain_transaction t where t.hash = s.hash and t.to_slot is null);
