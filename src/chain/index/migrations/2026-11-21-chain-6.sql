-- JSON: names and messages of the failures for which the network refuses a transaction that it had accepted
alter table submission_status add column failures text;
