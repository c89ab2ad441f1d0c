/** The HTTP status of every failure code that the wallet service may answer with. */
import { HARD } from "#src/cardano/keys/derivation.ts";
import { answeredBy, refusalOf } from "#src/http/errors.ts";

/** HTTP statuses by code. */
export const statusCodes = {
  bad_request: 400,
  query_param_missing: 400,
  min_withdrawal_wrong: 400,
  start_time_later_than_end_time: 400,
  unresolved_inputs: 400,
  input_resolution_conflicts: 400,
  redeemer_script_failure: 400,
  redeemer_target_not_found: 400,
  redeemer_invalid_data: 400,
  balance_tx_inline_plutus_v4_script_not_supported_in_conway: 400,
  balance_tx_native_script_not_supported_in_conway: 400,
  already_withdrawing: 403,
  asset_name_too_long: 403,
  balance_tx_conflicting_networks: 403,
  balance_tx_existing_collateral: 403,
  balance_tx_existing_key_witnesses: 403,
  balance_tx_existing_return_collateral: 403,
  balance_tx_existing_total_collateral: 403,
  cannot_cover_fee: 403,
  created_invalid_transaction: 403,
  created_multiaccount_transaction: 403,
  created_multidelegation_transaction: 403,
  created_wrong_policy_script_template: 403,
  action_expired: 403,
  delegation_invalid: 403,
  drep_already_registered: 403,
  drep_not_registered: 403,
  foreign_transaction: 403,
  foreign_change_address: 403,
  hardened_derivation_required: 403,
  inputs_depleted: 403,
  inputs_not_available: 403,
  insufficient_collateral: 403,
  invalid_metadata_decryption: 403,
  invalid_metadata_encryption: 403,
  invalid_validity_bounds: 403,
  invalid_wallet_type: 403,
  key_not_found_for_address: 403,
  mint_or_burn_asset_quantity_out_of_bounds: 403,
  missing_policy_public_key: 403,
  missing_witnesses_in_transaction: 403,
  no_root_key: 403,
  no_utxos_available: 403,
  node_not_yet_in_recent_era: 403,
  non_null_rewards: 403,
  no_unused_address: 403,
  not_delegating_to: 403,
  not_enough_money: 403,
  nothing_to_consolidate: 403,
  nothing_to_migrate: 403,
  output_token_bundle_size_exceeds_limit: 403,
  output_token_quantity_exceeds_limit: 403,
  pool_already_joined: 403,
  pool_already_joined_same_vote: 403,
  same_vote: 403,
  shared_wallet_active: 403,
  shared_wallet_cannot_update_key: 403,
  shared_wallet_incomplete: 403,
  shared_wallet_key_already_exists: 403,
  shared_wallet_no_delegation_template: 403,
  shared_wallet_no_such_cosigner: 403,
  shared_wallet_script_template_invalid: 403,
  soft_derivation_required: 403,
  spending_limit_exceeded: 403,
  transaction_already_in_ledger: 403,
  transaction_is_too_big: 403,
  tx_not_in_node_era: 403,
  unsupported_era: 403,
  utxo_too_small: 403,
  validity_interval_not_inside_script_timelock: 403,
  voting_in_invalid_era: 403,
  withdrawal_not_beneficial: 403,
  withdrawal_not_possible_without_vote: 403,
  wrong_encryption_passphrase: 403,
  wrong_mnemonic: 403,
  asset_not_present: 404,
  block_header_not_found: 404,
  no_such_action: 404,
  no_such_pool: 404,
  no_such_transaction: 404,
  no_such_wallet: 404,
  not_found: 404,
  not_possible: 409,
  paused: 409,
  address_already_exists: 409,
  wallet_already_exists: 409,
  too_large: 413,
  mempool_is_full: 425,
  too_many_wrong_passphrases: 429,
  missing_reward_account: 500,
  not_implemented: 501,
  query_unsupported: 501,
  network_unreachable: 503,
  past_horizon: 503,
  index_behind: 503,
  newer_version: 503,
  overloaded: 503,
  deadline: 503,
  crashed: 503,
  unavailable: 503,
} as const;

/** A failure as what is thrown to answer with it. */
export const refusal = refusalOf(statusCodes);

/** The value of a good answer; throws what another is answered with. */
export const answered = answeredBy(refusal);

const outOfBound = (kind: "soft" | "hardened") =>
  "It looks like you've provided a derivation index that is out of bound. The index is well-formed, but I require indexes valid for " +
  `${kind} derivation only. That is, indexes between`;

/** The refusal of a soft index where a key can only be derived at a hard one. */
export function hardIndexRequired(): Error {
  const message = `${outOfBound("hardened")} 0H and ${HARD - 1}H.`;
  return refusal({ code: "hardened_derivation_required", message });
}

/** The refusal of a hard index where a key can only be derived at a soft one. */
export function softIndexRequired(): Error {
  const message = `${outOfBound("soft")} 0 and ${HARD - 1} without a suffix.`;
  return refusal({ code: "soft_derivation_required", message });
}
