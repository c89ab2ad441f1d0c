-- the process that works on it
alter table wallet_request add column holder text;
