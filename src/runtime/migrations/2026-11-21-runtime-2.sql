-- The state by name, for lists and counts. An update that stays in its state does not touch the index.
alter table actor add column state text collate "C";
update actor a set state = o.to_state from outbox o where o.kind = a.kind and o.id = a.id and o.version = a.version;
update actor set state = snapshot->>'value' where state is null;
alter table actor alter column state set not null;
create index actor_state on actor (kind, state, id);
