-- searched in the order of names
create index wallet_name on wallet (name, id);
