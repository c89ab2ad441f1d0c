-- assets by the beginning of their names
create index on devnet_index_mint (substr(unit, 57), unit);
