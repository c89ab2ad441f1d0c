-- entries that count, by their slots: those that a rollback withdraws are found from the last one on, some at a time
create index log_entry_counted on log_entry (slot, n) where not withdrawn and undoes is null;
drop index log_entry_slot_idx;
