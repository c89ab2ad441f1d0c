/** Documents of a Blockfrost service for the state of a chain; members that no reader uses are zero. */
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { addressText, readAddressHex } from "#src/cardano/address.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import type { ScannedBlock, ScannedTransaction } from "#src/cardano/block.ts";
import type { DRep } from "#src/cardano/certificates.ts";
import { encode, Encoded } from "#src/cardano/cbor.ts";
import type { Epoch, EraBound, Eras } from "#src/cardano/eras.ts";
import { hash224, hash256 } from "#src/cardano/hash.ts";
import type { Output } from "#src/cardano/output.ts";
import type { Parameters, Ratio } from "#src/cardano/parameters.ts";
import type { StakeAccount, StakePool } from "#src/chain/provider/ledgerPort.ts";

/** Members that every document about an output has. */
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
    // not from the library, whatever it is
    reference_script_hash: script ? hash224(script) : null,
  };
}

/** The body of a submitted transaction. */
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

/** `/network/eras`: the eras before the current one are empty. `slotLength` in ms. */
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

/** A fraction in the notation of the service. */
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

/** `/network/eras`. The service always states an end; where there is none, it is some epochs ahead. */
export function erasDocument({ history }: Eras): object[] {
  const bound = ({ time, slot, epoch }: EraBound) => ({ time: Number(time / 1_000_000_000_000n), slot, epoch });
  return history.map(({ start, end, terms }) => {
    const open = { epoch: start.epoch + 100, slot: start.slot + 100 * terms.epochLength };
    const time = Number(start.time / 1_000_000_000_000n) + 100 * terms.epochLength * terms.slotLength / 1000;
    return {
      start: bound(start),
      end: end ? bound(end) : { time, ...open },
      parameters: {
        epoch_length: terms.epochLength,
        slot_length: terms.slotLength / 1000,
        safe_zone: terms.safeZone ?? terms.genesisWindow,
      },
    };
  });
}

/** `/epochs/latest`. */
export function epochDocument({ number, start, end }: Epoch): object {
  return {
    ...{ epoch: number, start_time: Math.floor(start / 1000), end_time: Math.floor(end / 1000) },
    ...{ first_block_time: 0, last_block_time: 0, block_count: 0, tx_count: 0 },
    ...{ output: "0", fees: "0", active_stake: null },
  };
}

/** `/accounts/{stake_address}`; undefined for an account that was never registered. */
export function accountDocument(address: string, account: StakeAccount): object | undefined {
  if (!account.registered) return undefined;
  const { drep } = account;
  return {
    stake_address: address,
    ...{
      active: true,
      registered: true,
      active_epoch: 0,
      controlled_amount: "0",
      rewards_sum: "0",
      withdrawals_sum: "0",
    },
    ...{ reserves_sum: "0", treasury_sum: "0", withdrawable_amount: String(account.rewards) },
    pool_id: account.pool === undefined ? null : toBech32("pool", fromHex(account.pool)),
    drep_id: drep === undefined ? null : drepText(drep),
  };
}

/** Members of `/pools/extended`. */
export function poolDocument({ pool, pledge, cost, margin, metadata, stake = 0n }: StakePool): object {
  const none = { ticker: null, name: null, description: null, homepage: null };
  return {
    pool_id: toBech32("pool", fromHex(pool)),
    hex: pool,
    ...{ active_stake: String(stake), live_stake: String(stake), live_saturation: 0, blocks_minted: 0 },
    declared_pledge: String(pledge),
    margin_cost: decimal(margin),
    fixed_cost: String(cost),
    metadata: metadata ? { ...metadata, ...none } : null,
  };
}

/** `/network`: all lovelace in circulation follows from the share of a pool. */
export function networkDocument(pools: readonly StakePool[]): object {
  const { stake = 0n, share } = pools.find(({ stake }) => stake) ?? {};
  const total = String(share ? stake * share.denominator / share.numerator : 1n);
  return {
    supply: { max: total, total, circulating: total, locked: "0", treasury: "0", reserves: "0" },
    stake: { live: "0", active: "0" },
  };
}

function drepText(drep: DRep): string {
  if (drep.kind === "abstain") return "drep_always_abstain";
  if (drep.kind === "no confidence") return "drep_always_no_confidence";
  return toBech32("drep", concat(Uint8Array.of(drep.kind === "key" ? 0x22 : 0x23), fromHex(drep.hash)));
}
