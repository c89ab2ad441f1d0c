-- The indexes for retention are partial: a row enters them when it ends, so that no insert pays for them.
create index actor_paused on actor (kind, id) where paused;
create index command_result_old on command_result (created) where result is not null;
create index effect_old on effect (next_attempt) where done;
create index input_log_old on input_log (created) where read;

-- Where the event came from, and how often a retry was answered without being applied.
alter table dead_letter add column source text, add column retries int not null default 0;
update dead_letter set source = case when cause like 'input:%' then 'input' when cause like 'reminder:%' then 'reminder'
  when cause like 'effect:%' then 'outcome' else 'command' end;
alter table dead_letter alter column source set not null;
create index dead_letter_of on dead_letter (kind, id, n);
