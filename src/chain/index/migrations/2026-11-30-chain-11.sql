-- the slot of the first block of Allegra or a later era, with which the outputs end that keys redeem
alter table chain_output_whole add column allegra_slot bigint;
