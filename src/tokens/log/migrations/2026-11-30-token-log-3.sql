-- of each witness: when it signed last, and its last refusal, for operators
alter table log_witness add column signed_at timestamptz, add column refused_at timestamptz, add column refusal text;
