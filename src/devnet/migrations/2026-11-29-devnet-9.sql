-- Fewer entries of indexes for an output and for an address of a transaction: an address is found by its payment credential,
-- which is in it; only addresses of Byron have none.
drop index devnet_index_output_address_height_tx_index_index_idx;
create index on devnet_index_output (address, height, tx_index, index) where payment is null;
alter table devnet_index_address drop constraint devnet_index_address_pkey;
create index on devnet_index_address (address, height, tx_index) where payment is null;

-- Rows of blocks beside the chain in the largest tables of the index, beside the JSON of the others; those of an earlier version
-- are all JSON. The spend of an output is that of another block.
create table devnet_side_index_tx (block text not null, like devnet_index_tx);
create table devnet_side_index_output (block text not null, like devnet_index_output);
alter table devnet_side_index_output drop column spent_height, drop column spent_index, drop column spent_tx;
create table devnet_side_index_address (block text not null, like devnet_index_address);
create index on devnet_side_index_tx (block);
create index on devnet_side_index_output (block);
create index on devnet_side_index_address (block);
-- a block's rows are found together
alter table devnet_side_output drop constraint devnet_side_output_pkey;
create index on devnet_side_output (block);
