/**
 * What a caller does about each error code: one sentence that names the option, member, endpoint or condition. The
 * reference of error codes, the OpenAPI documents and the command line show these sentences.
 */
type Advice = Readonly<Record<string, string>>;

/** Codes with one advice in every service that gives them. */
const edge = {
  action_unknown: "Take an id of `GET /governance/actions`; a vote needs an action that is still open.",
  actor_unknown: "Take a kind and an id of `GET /actors`.",
  address_already_exists: "Skip this address: the wallet has it, as its `GET …/addresses` shows.",
  answer_too_large: "Request less at once: a smaller `limit`, a `prefix`, or the parts one by one.",
  asset_not_indexed: "Request `GET /chain/outputs/{address}?asset=` for an address that holds the asset.",
  asset_not_present: "Take a policy id and an asset name of `GET …/assets` of the wallet.",
  bad_address:
    "Give a bech32, base58 or hexadecimal address of this network; `details.reason` says what is wrong with this one.",
  bad_amount: "Give the amount in ada with at most 6 decimals.",
  bad_host: "Send `Host` with localhost or an IP address, or add the name to --hosts.",
  bad_id: "Give the bech32 or hexadecimal id as the lists of this service show it.",
  bad_origin: "Add the page's origin to --origins (token service) or --devnet-origins (devnet).",
  bad_pool: "Give the pool id of `GET /pools`: `pool1…`, or 56 hexadecimal digits.",
  bad_position: "Leave out `from` to begin at now, or take the `id` of an event that this service sent.",
  bad_request:
    "Correct the members, parameters or headers that the message names; `GET /openapi.json` has their schemas.",
  bad_url: "Give the webhook a public https URL; --webhooks-private allows http and private addresses.",
  block_header_not_found: "Wait for the first block: `GET /v2/network/information` shows the progress.",
  body_incomplete: "Send as many bytes as `Content-Length` says, and keep the connection open until the response.",
  body_too_large: "Split the body into requests of at most `details.limit` bytes.",
  body_too_slow: "Send the whole body at once, over a connection without pauses.",
  bundle_unavailable:
    "Install the program with its bundler, or use a build of the page that has it; other endpoints work.",
  client_gone: "Keep the connection open while the service waits for blocks.",
  crashed: "Try again; if it stays, report the lines of the service's log at this time.",
  created_invalid_transaction:
    "Read the reason in the message and the ledger's failures in `info`, and build another transaction.",
  deadline: "Try again after `Retry-After`; if it stays, add --builders or send fewer builds at a time.",
  devnet_unavailable:
    "Wait until the process with the role devnet is ready: `GET /ready` of that process says why not.",
  evaluation_unavailable: "Try again when fewer builds run: the scripts had no free thread of --builders.",
  genesis_kept: "Start another devnet with these options in another --folder.",
  header_missing: "Send the header `Arbor-Operator: 1` with every request that changes something.",
  idempotency_key_reused:
    "Use a new `Idempotency-Key` for another request; the same key repeats the same request alone.",
  inconsistent:
    "Compare the tiles of the log with this checkpoint: it is not a continuation of the one that was signed.",
  index_behind: "Try again after `Retry-After`; `GET /ready` shows how far the index is behind the network.",
  index_off: "Start the devnet without `index` in --devnet-without, in another --folder.",
  internal_error: "Report the lines of the service's log with the response's `X-Request-Id`.",
  invalid_metadata_encryption: "Send `metadata` with a `msg` member under the label 674 beside `encrypt_metadata`.",
  key_not_found_for_address: "Import only addresses that this wallet's mnemonic gives.",
  malformed_json: "Send one JSON value in UTF-8, not nested too deep and without repeated members.",
  mempool_is_full: "Submit the same bytes again after the next block.",
  method_not_allowed: "Use a method that the response's `Allow` header lists.",
  min_withdrawal_wrong: "Give `minWithdrawal` as 1 or more lovelace.",
  network_unreachable:
    "Look at the network provider, named by --node-socket, --ogmios-url, --blockfrost-url or --yaci-url, and try again.",
  newer_version: "Start the Arbor version that changed this actor last, on all workers.",
  no_checkpoint: "Wait for the log's first checkpoint: states enter it --log-depth blocks after their own.",
  no_outputs: "Wait for the first block with an output.",
  no_such_file: "Take the file of byron, shelley, alonzo or conway.",
  no_such_pool: "Take a pool of `GET /v2/stake-pools`, and wait until the index has its registration.",
  no_such_transaction: "Take a transaction id of the wallet's `GET …/transactions`.",
  no_such_wallet:
    "Take a wallet id of `GET /v2/wallets`, `/v2/byron-wallets` or `/v2/shared-wallets`, or restore the wallet.",
  no_tile: "Take a level and an index below the size that `GET /log` names.",
  no_utxo_root: "Leave out `proof`, or call an instance with --utxo-root or with a devnet that keeps the root.",
  not_acceptable: "Send `Accept: application/json`, or leave the header out.",
  not_found: "Take a path of `GET /openapi.json`, at the port of the service that has it.",
  not_logged: "Wait until the state is --log-depth blocks deep and in the log.",
  not_owner: "Build with the address of the owner, which `GET /token/{tokenId}` or the open request names.",
  not_rebuildable:
    "Build it with the endpoint of its own: only changes of a token that this service built can be built again.",
  not_signed: "Sign the checkpoint with the key of --witness-for that this log is known by.",
  not_supported: "Leave out `enableMultiNode`, and the parts that --devnet-without left out.",
  output_not_seen: "Wait again, with a longer `timeout`, if the transaction is still pending.",
  output_unknown: "Take a transaction id and an index of an output that is not spent yet.",
  overloaded:
    "Send fewer requests at a time and try again after `Retry-After`; --mailbox and --builders raise the limits.",
  paused: "Wait for an operator: `POST /actors/{kind}/{id}/resume` of the operator service resumes the actor.",
  pool_unknown: "Take a pool id of `GET /pools`.",
  query_param_missing: "Give `stake`, the lovelace to delegate.",
  rate_limited: "Wait as long as `Retry-After` says; --rate-limit sets the requests per second of a client.",
  refused_by_ledger: "Read the ledger's failures in `details`, and submit a transaction without them.",
  request_in_progress:
    "Wait for the response to the first request with this `Idempotency-Key`, or repeat this one after it.",
  request_unknown: "Take an `outputRefId` of `GET /token/{tokenId}/requests`; ended requests are in its history.",
  restored:
    "Discard the state, read it again and follow events from now: the database was restored to an earlier point.",
  rollback_impossible: "Take a height from `details.lowest` to `details.highest`.",
  rolled_back: "Begin again without `since` and `after`: a rollback removed the state that they name.",
  start_time_later_than_end_time: "Give a `start` that is not after `end`.",
  state_moved: "Request `details.rebuild` for the same change on the token's new state, and sign that transaction.",
  token_ended: "Use another token of `GET /tokens`: this one was ended by its owner.",
  token_quarantined:
    "Have an operator call `POST /tokens/{tokenId}/release`; until then read the token's facts elsewhere.",
  token_unknown: "Take a token id of `GET /tokens`, and wait until the block of its boot is indexed.",
  tokens_off: "Start with --tokens-on-mainnet to serve tokens on mainnet.",
  too_many_builds: "Wait for the responses of earlier builds; --client-builds sets how many a client may have.",
  too_many_outputs: "Select outputs with `asset` where the endpoint has it, or merge the address's outputs into fewer.",
  too_many_readers: "Close event streams that are not needed; --event-readers sets how many an edge serves.",
  too_many_waiting: "Try again after `Retry-After`, or poll without `wait`.",
  too_many_webhooks: "Delete webhooks that are not needed with `DELETE /webhooks/{id}`.",
  transaction_already_in_ledger: "Leave the transaction: it is final on the ledger and cannot be forgotten.",
  transaction_not_lost: "Wait for the transaction: only one that the ledger refused or that expired is built again.",
  transaction_unknown:
    "Take the hash of a transaction that this service submitted or indexed, or add `wait` for one on its way.",
  unauthorized:
    "Send `Authorization: Bearer TOKEN` with the value of --operator-token, or --signer-token for a signing service.",
  unavailable:
    "Try again after `Retry-After`; if it stays, look at the database of --database-url and at `GET /ready`.",
  unexpected_error:
    "For 404 give `restoration_mode` a block that is on the chain; for 500 report the lines of the service's log.",
  unknown_log: "Add the key of this log to --witness-for of the witness.",
  unsupported_media_type:
    "Send `Content-Type: application/json`, or `application/octet-stream` for bytes of a transaction.",
  utxo_root_unavailable:
    "Try again when the tree of unspent outputs is at the newest block: `GET /utxo-csmt/ready` says so.",
  wait_too_long: "Request fewer blocks at a time, and begin the next wait after the response.",
  wallet_already_exists: "Use the wallet with the id in the message, or delete it before it is restored.",
  wallet_elsewhere: "Stop the other process with this --signer-seed file, or wait until its lease ends.",
  wallet_passphrase_differs:
    "Delete this wallet in the wallet service, or give --signer-seed the file that it was made from.",
  webhook_unknown: "Take an id of `GET /webhooks`.",
  witness_behind: "Send the checkpoint again when the witness has indexed the same blocks.",
  wrong_tokens: "Correct the bearer token, then wait as long as `Retry-After` says.",
} as const satisfies Advice;

const tokens = {
  fact_differs: "Give the value that the fact has now, from `GET /token/{tokenId}/facts/{key}`.",
  fact_exists: "Request an update of this key in place of an insert.",
  fact_missing: "Request an insert of this key in place of an update or a deletion.",
  foreign_address: "Give an address of the wallet that the parameter `wallet` names, or leave `wallet` out.",
  no_such_wallet: "Give `wallet` the id of a wallet that the wallet service of this deployment has.",
  not_enough_money: "Pay ada to the address that the transaction is built for; `details` says how much is missing.",
  not_evaluated: "Submit the transactions whose outputs this one spends, or give these outputs as `additionalOutputs`.",
  not_possible: "Read the token's status at `GET /token/{tokenId}`: it does not allow this change now.",
  nothing_to_apply: "Wait for a request in `GET /token/{tokenId}/requests`, or name one with `request` or `refuse`.",
  owner_unchanged: "Give `to` the address of another owner.",
  refused_by_ledger: "Build the transaction again and sign that one: `details` has the reasons of the ledger.",
  request_conflicts: "Wait until the request in `details.request` ends, or leave out `strict`.",
  request_pending: "Wait for the next block: the transaction in the message spends this request.",
  requests_fail: "Leave out or `refuse` the requests in `details.requests`, each with its reason.",
  script_refused: "Correct the redeemer, datum or change that `details.redeemers` names.",
  token_pending: "Wait for the next block, or look at `details.transaction` with `GET /transaction?txHash=`.",
  too_large: "Apply fewer requests in one transaction with `request`, or give shorter keys and values.",
  undecodable: "Send the transaction's CBOR in hexadecimal or as bytes, signed and complete.",
  version_without_refusals: "Leave out `refuse`: the requester retracts requests of this token.",
} as const satisfies Advice;

const wallets = {
  action_expired: "Vote on an action of `GET …/governance` whose last epoch is not over.",
  already_withdrawing: "Remove one of the two withdrawals from the transaction.",
  asset_name_too_long: "Give `asset_name` at most 32 bytes, 64 hexadecimal digits.",
  bad_request:
    "Correct the place of the body, query or path that the message names; `GET /v2/openapi.json` has the schemas.",
  balance_tx_conflicting_networks: "Keep withdrawals of one network alone in the transaction.",
  balance_tx_existing_collateral: "Remove the collateral inputs: balancing adds them.",
  balance_tx_existing_key_witnesses: "Balance the transaction before it is signed: remove its key witnesses.",
  balance_tx_existing_return_collateral: "Remove the output for returned collateral: balancing adds it.",
  balance_tx_existing_total_collateral: "Remove the total of the collateral: balancing sets it.",
  balance_tx_inline_plutus_v4_script_not_supported_in_conway: "Use a script of Plutus V1, V2 or V3.",
  balance_tx_native_script_not_supported_in_conway: "Use a native script of the ledger's current era.",
  cannot_cover_fee: "Pay ada to the wallet, or send less, so that the fee is left.",
  created_multiaccount_transaction: "Give `stake_key_index` 0H alone.",
  created_multidelegation_transaction: "Give one element in `delegations`: join, quit or vote.",
  created_wrong_policy_script_template: "Name `cosigner#0` alone in `policy_script_template`.",
  delegation_invalid: "Create the shared wallet with a `delegation_script_template`.",
  drep_already_registered: "Update the representative with `PUT …/governance/drep`.",
  drep_not_registered: "Register the wallet's representative first, with `POST …/governance/drep`.",
  foreign_change_address:
    "Give a change address of the wallet, or add `foreign` to pay all that is left to another one.",
  foreign_transaction: "Submit it to the wallet whose output or reward it spends, or to `POST /v2/proxy/transactions`.",
  hardened_derivation_required: "Give the index with H, from 0H to 2147483647H.",
  input_resolution_conflicts:
    "Leave out of `inputs` the outputs that the wallet has, or give them as the ledger has them.",
  inputs_depleted: "Pay fewer recipients in one transaction, split an output first, or set `selection` to round-robin.",
  inputs_not_available: "Name outputs of `GET …/utxo?references=true` that no pending transaction spends.",
  insufficient_collateral:
    "Pay an output of ada alone to the wallet, as large as the collateral of the transaction's scripts.",
  invalid_metadata_decryption: "Give the passphrase and the method that encrypted the metadata.",
  invalid_validity_bounds: "Give an `invalid_hereafter` that is after `invalid_before` and not in the past.",
  invalid_wallet_type: "Use a wallet of the kind that the message names: this endpoint is for another one.",
  mint_or_burn_asset_quantity_out_of_bounds: "Give a quantity from 1 to 9223372036854775807.",
  missing_policy_public_key: "Create the policy key first, with `POST …/policy-key`.",
  missing_reward_account: "Use a wallet with a stake account: Shelley, or shared with a delegation template.",
  missing_witnesses_in_transaction:
    "Add the missing signatures with `POST …/transactions-sign` of each wallet that spends.",
  no_root_key: "Restore the wallet from its mnemonic: one of a public key cannot sign.",
  no_such_action: "Take an id of a governance action on the chain, written as `gov_action1…`.",
  no_unused_address:
    "Pay to a reserved address or wait for its end, or restore the wallet with a larger `address_pool_gap`.",
  no_utxos_available: "Pay an output to the wallet, and wait until the block is indexed.",
  node_not_yet_in_recent_era: "Wait until the node has followed the chain into its newest era.",
  non_null_rewards: "Withdraw the rewards in the same transaction: add `withdrawal: self`.",
  not_delegating_to: "Leave out the quit: the wallet delegates to no pool.",
  not_enough_money: "Pay to the wallet what `info` says is missing, or send less.",
  not_found: "Take a path of `GET /v2/openapi.json`; it begins with /v2.",
  not_implemented: "Use another endpoint or form: this service does not have the one in the message.",
  not_possible: "Read the state of the wallet or transaction again: it does not allow this command now.",
  nothing_to_consolidate: "Wait for more small outputs, or raise `below`, the amount up to which an output is small.",
  nothing_to_migrate: "Pay ada to the wallet first, or let small outputs stay: none is worth its fee.",
  output_token_bundle_size_exceeds_limit: "Divide the assets of this payment among several outputs.",
  output_token_quantity_exceeds_limit: "Divide the quantity of this asset among several outputs.",
  past_horizon: "Give a time or slot that is inside the era history of the network, up to the one in the message.",
  pool_already_joined: "Leave the delegation out: the wallet delegates to this pool.",
  pool_already_joined_same_vote: "Change the pool or the vote: the wallet has both of these.",
  query_unsupported:
    "Use --provider node or ogmios: this provider does not have the ledger state that the endpoint reads.",
  redeemer_invalid_data: "Give `data` of the redeemer as the CBOR of Plutus data in hexadecimal.",
  redeemer_script_failure: "Correct the redeemer or datum: the script refused with the reason in the message.",
  redeemer_target_not_found: "Give the redeemer a purpose and an input, policy or account that the transaction has.",
  same_vote: "Choose another vote: the wallet's vote is this one.",
  shared_wallet_active: "Create another shared wallet: the keys of a complete one stay.",
  shared_wallet_cannot_update_key: "Change the keys of other cosigners alone: the wallet's own key stays.",
  shared_wallet_incomplete:
    "Add the missing keys with `PATCH …/payment-script-template` and `…/delegation-script-template`.",
  shared_wallet_key_already_exists: "Give each cosigner a key of its own.",
  shared_wallet_no_delegation_template:
    "Leave out delegation keys, or create the wallet with `delegation_script_template`.",
  shared_wallet_no_such_cosigner: "Name a cosigner, such as `cosigner#1`, that the wallet's template has.",
  shared_wallet_script_template_invalid:
    "Correct the template as the message says, or set `script_validation` to required.",
  soft_derivation_required: "Give the index without H, from 0 to 2147483647.",
  spending_limit_exceeded:
    "Wait until earlier payments are 24 hours old, or raise the limit with `PUT …/spending-limit`.",
  transaction_is_too_big: "Send fewer outputs or assets in one transaction, or consolidate small outputs first.",
  too_large: "Send a smaller request: fewer payments, or less metadata.",
  too_many_wrong_passphrases: "Wait as long as `Retry-After` says before the next passphrase.",
  tx_not_in_node_era: "Build the transaction in the era that the node is in.",
  unresolved_inputs: "Give the missing outputs in `inputs`, with their address and amount.",
  unsupported_era: "Build the transaction in the Alonzo era or a later one.",
  utxo_too_small: "Pay at least the amount in the message to this output, or leave assets out of it.",
  validity_interval_not_inside_script_timelock: "Give a `validity_interval` inside the time locks of the script.",
  voting_in_invalid_era: "Vote when the network is in the Conway era.",
  withdrawal_not_beneficial: "Leave out `withdrawal`: the rewards are less than its fee.",
  withdrawal_not_possible_without_vote: "Delegate the vote first, with `PUT /v2/dreps/{drepId}/wallets/{walletId}`.",
  wrong_encryption_passphrase: "Give the passphrase that the wallet was created with or that replaced it.",
  wrong_mnemonic: "Give the words that the wallet was restored from, all and in their order.",
} as const satisfies Advice;

const operator = {
  bad_attribute:
    "Take an attribute of the kind from `GET /kinds`, with `kind`; `equals`, `from` and `before` need `attribute`.",
  bad_cursor: "Take `after` from the `next` of the page before, with the same parameters.",
  bad_id: "Give an id of the form that `GET /actors?kind=` shows for this kind.",
  bad_kind: "Take one of the kinds in the message for `kind`.",
  bad_state: "Take a state of `GET /kinds/{kind}/machine`.",
  bad_transition: "Take a transition of `GET /kinds/{kind}/machine`.",
  failed: "Read the error of the actor's code in `GET /dead-letters`.",
  history_foreign: "Read this version with the Arbor release that wrote it.",
  history_pruned: "Take `details.oldest` or a later version; --keep-history-hours sets how long transitions stay.",
  invalid: "Give the command or build the members of its schema: `details` names the wrong ones.",
  kind_unknown: "Take a kind of `GET /kinds`.",
  lapsed: "Delete the dead letter: the row that it would retry is no longer kept.",
  letter_unknown: "Use the number of a dead letter in `GET /dead-letters`.",
  no_devnet: "Start a process with the role devnet: blocks of other networks cannot be rolled back.",
  no_other_worker: "Start a second process with the role worker.",
  no_stream: "Leave it: without a JetStream of the NATS server, replays come from the database.",
  not_explained: "Read in the message which transaction does not fit, and report it; the token stays in quarantine.",
  not_moved: "Try again; if it stays, look at `GET /workers` for the owner that does not hand over.",
  not_possible: "Read the actor's state at `GET /actors/{kind}/{id}`: it does not take this command now.",
  out_of_order: "Delete the dead letter: later events of the actor were applied.",
  partition_unknown: "Take an id of `GET /partitions`.",
  rebuild_running: "Wait for its end, which `GET /events/rebuild` shows.",
  reminder_unknown: "Take the name of a reminder of `GET /actors/{kind}/{id}`.",
  stream_unavailable: "Look at the NATS servers of --nats-url and their JetStream, then request the rebuild again.",
  superseded: "Delete the dead letter: a newer reminder of this name does its work.",
  too_large: "Send a smaller command: the actor's state or the message is over its limit.",
  unknown_kind: "Start all workers with a release that has this kind.",
  version_far: "Take a version nearer to a stored state, a multiple of 64.",
  version_unknown: "Take a version of `GET /actors/{kind}/{id}/history`.",
  worker_unknown: "Take a worker of `GET /workers` that is not stopping.",
} as const satisfies Advice;

const devnet = {
  amount_too_large: "Request at most `details.limit` lovelace at a time.",
  amount_too_small: "Request at least `details.limit` lovelace for this address.",
  bad_parameters: "Name parameters as in `GET /parameters`, with values of the same form.",
  clock_ahead: "Wait until the machine's clock has passed the devnet's, or reset the devnet.",
  faucet_empty: "Return ada to the faucet's address, or start a devnet with larger --supply-ada.",
  guardrails_unknown:
    "Give the script of the constitution with --conway-genesis, or propose an action that needs none.",
  mempool_full: "Make a block with `POST /blocks`, or wait for the next one, and submit again.",
  no_account: "Give `account` the registered stake address that the deposit returns to.",
  no_voter: "Start the devnet with --dreps, --committee or --pools for a voter on this kind of action.",
  not_accepted: "Change the action or vote so that the ledger's failures in `details` no longer apply.",
  slot_not_after_tip: "Take a slot after that of the newest block in `GET /tip`.",
  snapshot_exists: "Give another name, or `replace: true`.",
  snapshot_unknown: "Take a name of `GET /snapshots`.",
  too_far_ahead: "Advance by less, or reset the devnet: its clock stays within 100 years of the machine's.",
  too_many_blocks: "Advance in several requests of at most 10,000 epochs each.",
  too_many_slots: "Advance in several requests of at most 1,000,000 slots each.",
  too_many_snapshots: "Delete a snapshot with `DELETE /snapshots/{name}`.",
  undecodable: "Send the CBOR of a signed transaction, as bytes with `Content-Type: application/octet-stream`.",
  voter_without_key: "Take voters of `GET /governance/voters`: the devnet has their keys.",
} as const satisfies Advice;

const signer = {
  ...tokens,
  faucet_unavailable: "Look at the service of --topup-url, and try again.",
  no_faucet: "Pay the address that `/wallet` of the signing service names.",
  not_owner: "Leave out `owner`: tokens of a signing service belong to its own wallet.",
} as const satisfies Advice;

/** Advice by service: what all services share, and what a service gives beside or in place of that. */
export const ERROR_ADVICE = {
  edge,
  tokens: { ...edge, ...tokens },
  wallets: { ...edge, ...wallets },
  operator: { ...edge, ...operator },
  devnet: { ...edge, ...devnet },
  signer: { ...edge, ...signer },
} as const satisfies Readonly<Record<string, Advice>>;
export type AdvisedService = keyof typeof ERROR_ADVICE;
