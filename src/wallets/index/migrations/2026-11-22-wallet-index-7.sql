-- how often the wallet was created, so that what its actor hears too late is not taken for something of a later life; null for those
-- that were begun before
alter table wallet_index add column life int;
