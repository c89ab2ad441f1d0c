-- numbers "seq" are not used again: an entry of kind rollback is one of its token, and "undoes" is the number of the first entry
-- that it withdraws. Entries that an earlier build withdrew keep numbers that others have, and count no more
alter table log_entry add column undoes bigint;
update log_entry set seq = null where withdrawn;
