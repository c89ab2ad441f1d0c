-- Patterns of the API of Kupo. A row covers the outputs of blocks that are above after_height, or of a later fork than after_fork;
-- and, once the pattern was removed, at most at until_height and of until_fork: blocks that were in the chain then. -2: from the
-- genesis on. hides: the matches of the pattern up to there were deleted.
create table devnet_kupo_pattern (
  id bigserial primary key, pattern text not null, hides boolean not null default false,
  after_height bigint not null, after_fork bigint not null, until_height bigint, until_fork bigint);
insert into devnet_kupo_pattern (pattern, after_height, after_fork) values ('*', -2, 0);
