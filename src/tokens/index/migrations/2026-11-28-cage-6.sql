-- where in its block a state was made: 65536 times the transaction's index, and the output's. Of states from before this column it is
-- that of the requests which the transaction ended, and unknown of a transaction that ended none
alter table token_state add column position bigint;
update token_state s set position = e.position / 65536 * 65536 + substr(s.ref, 66)::int
  from (select token, from_slot, tx, min(position) as position from token_request_end where tx is not null group by token, from_slot, tx) e
  where e.token = s.token and e.from_slot = s.from_slot and e.tx = left(s.ref, 64);
