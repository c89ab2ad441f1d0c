-- earlier releases took addresses whose key is at the hardened form of the recorded index for forged ones; the next signature finds
-- those that are
delete from wallet_forged;
