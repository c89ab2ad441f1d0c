/** Documents of a Blockfrost service, made of what is true of a chain; what nobody asks for is zero. */
import { toHex } from "#src/base/bytes.ts";
import { addressText, readAddressHex } from "#src/cardano/address.ts";
import type { ScannedBlock, ScannedTransaction } from "#src/cardano/block.ts";
import { encode, Encoded } from "#src/cardano/cbor.ts";
import { hash224, hash256 } from "#src/cardano/hash.ts";
import type { Output } from "#src/cardano/output.ts";
import type { Parameters, Ratio } from "#src/cardano/parameters.ts";

/** What every document about an output has. */
export function outputDocument({ address, value, datum, datumHash, script }: Output): object {
  const parsed = readAddressHex(address);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return {
    address: addressText(parsed.value),
    amount: [
      { unit: "lovelace", quantity: String(value.lovelace) },
      ...[...value.assets].map(([unit, quantity]) => ({ unit, quantity: String(quantity) })),
    ],
    data_hash: datumHash ?? (datum ? hash256(datum) : null),
    inline_datum: datum ? toHex(datum) : null,
    // whatever it is, it is none of the library's
    reference_script_hash: script ? hash224(script) : null,
  };
}

/** A transaction as it is submitted. */
export function whole({ body, witnesses, valid, auxiliaryData }: ScannedTransaction): Uint8Array {
  return encode([new Encoded(body), new Encoded(witnesses), valid, auxiliaryData ? new Encoded(auxiliaryData) : null]);
}

/** `/blocks/{hash_or_number}`; `time` in ms since 1970. */
export function blockDocument(blocks: readonly ScannedBlock[], block: ScannedBlock, time: number): object {
  const index = blocks.indexOf(block);
  return {
    time: Math.floor(time / 1000),
    height: block.height,
    hash: block.hash,
    slot: block.slot,
    epoch: 0,
    epoch_slot: block.slot,
    slot_leader: "pool1pu5jlj4q9w9jlxeu370a3c9myx47md5j5m2str0naunn2q3lkdy",
    size: block.size,
    tx_count: block.transactions.length,
    output: null,
    fees: null,
    block_vrf: null,
    op_cert: null,
    op_cert_counter: null,
    previous_block: block.previous ?? null,
    next_block: blocks[index + 1]?.hash ?? null,
    confirmations: blocks.length - 1 - index,
  };
}

/** `/network/eras`: the eras before the newest were passed over. `slotLength` in ms. */
export function eras(slotLength: number): object[] {
  const passed = { time: 0, slot: 0, epoch: 0 };
  const parameters = { epoch_length: 432000, slot_length: 1, safe_zone: 129600 };
  const newest = { ...parameters, slot_length: Math.max(1, slotLength / 1000) };
  return [
    ...Array.from({ length: 6 }, () => ({ start: passed, end: passed, parameters })),
    { start: passed, end: { time: 8640000, slot: 8640000, epoch: 20 }, parameters: newest },
  ];
}

const counts = {
  utxo_count: 0,
  withdrawal_count: 0,
  mir_cert_count: 0,
  delegation_count: 0,
  stake_cert_count: 0,
  pool_update_count: 0,
  pool_retire_count: 0,
  asset_mint_or_burn_count: 0,
  redeemer_count: 0,
};

/** `/mempool/{hash}`. */
export function mempoolDocument(hash: string): object {
  const tx = {
    ...{ hash, output_amount: [], fees: "0", deposit: "0", size: 0, invalid_before: null, invalid_hereafter: null },
    ...counts,
    valid_contract: true,
  };
  return { tx, inputs: [], outputs: [], redeemers: [] };
}

/** `/txs/{hash}`. */
export function transactionDocument(one: ScannedTransaction): object {
  return {
    ...{ hash: one.hash, block: "0".repeat(64), block_height: 0, block_time: 0, slot: 0, index: one.index },
    ...{ output_amount: [], fees: String(one.fee ?? 0n), deposit: "0", size: one.body.length },
    ...{ invalid_before: null, invalid_hereafter: null, treasury_donation: "0" },
    ...counts,
    valid_contract: one.valid,
  };
}

/** A fraction as the services tell it. */
export const decimal = ({ numerator, denominator }: Ratio) => Number(numerator) / Number(denominator);

/** `/epochs/latest/parameters`. */
export function parametersDocument(of: Parameters): object {
  const raw = Object.fromEntries([...of.costModels].map(([language, model]) => [`PlutusV${language + 1}`, model]));
  const thresholds = [
    ...["pvt_motion_no_confidence", "pvt_committee_normal", "pvt_committee_no_confidence", "pvt_hard_fork_initiation"],
    ...[
      "dvt_motion_no_confidence",
      "dvt_committee_normal",
      "dvt_committee_no_confidence",
      "dvt_update_to_constitution",
    ],
    ...["dvt_hard_fork_initiation", "dvt_p_p_network_group", "dvt_p_p_economic_group", "dvt_p_p_technical_group"],
    ...["dvt_p_p_gov_group", "dvt_treasury_withdrawal", "pvtpp_security_group", "pvt_p_p_security_group"],
  ];
  return {
    epoch: 0,
    min_fee_a: Number(of.feePerByte),
    min_fee_b: Number(of.feeFixed),
    max_block_size: of.maxBlockBodySize,
    max_tx_size: of.maxTxSize,
    max_block_header_size: of.maxBlockHeaderSize,
    key_deposit: String(of.keyDeposit),
    pool_deposit: String(of.poolDeposit),
    e_max: of.poolRetirementBound,
    n_opt: of.desiredPools,
    a0: decimal(of.pledgeInfluence),
    rho: decimal(of.monetaryExpansion),
    tau: decimal(of.treasuryGrowth),
    decentralisation_param: 0,
    extra_entropy: null,
    protocol_major_ver: of.protocolVersion.major,
    protocol_minor_ver: of.protocolVersion.minor,
    min_utxo: String(of.utxoCostPerByte),
    min_pool_cost: String(of.minPoolCost),
    nonce: "0".repeat(64),
    cost_models: {},
    cost_models_raw: raw,
    price_mem: decimal(of.prices.memory),
    price_step: decimal(of.prices.steps),
    max_tx_ex_mem: String(of.maxTxUnits.memory),
    max_tx_ex_steps: String(of.maxTxUnits.steps),
    max_block_ex_mem: String(of.maxBlockUnits.memory),
    max_block_ex_steps: String(of.maxBlockUnits.steps),
    max_val_size: String(of.maxValueSize),
    collateral_percent: of.collateralPercentage,
    max_collateral_inputs: of.maxCollateralInputs,
    coins_per_utxo_size: String(of.utxoCostPerByte),
    coins_per_utxo_word: String(of.utxoCostPerByte),
    ...Object.fromEntries(thresholds.map((name) => [name, 0.51])),
    committee_min_size: "7",
    committee_max_term_length: "146",
    gov_action_lifetime: "6",
    gov_action_deposit: String(of.govActionDeposit),
    drep_deposit: String(of.drepDeposit),
    drep_activity: "20",
    min_fee_ref_script_cost_per_byte: decimal(of.refScriptCostPerByte),
  };
}
