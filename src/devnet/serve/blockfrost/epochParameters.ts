/** The document of an epoch's protocol parameters. */
import { concat, fromHex, utf8 } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { PLUTUS_LANGUAGES, type Ratio } from "#src/cardano/parameters.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { byronHash } from "#src/devnet/genesis/json.ts";
import { parametersFromJson } from "#src/devnet/genesis/parametersJson.ts";
import { protocolParameters } from "#src/ledger/governance/parameters.ts";
import { costModelNames } from "#src/plutus/costModelNames.ts";

const decimal = ({ numerator, denominator }: Ratio) => Number(numerator) / Number(denominator);

/** `epoch_param_content` of Blockfrost. */
export function epochParametersDocument(
  genesis: Genesis,
  { epoch, parameters }: { readonly epoch: number; readonly parameters: Json },
): object {
  const of = protocolParameters(parametersFromJson(parameters));
  const { poolThresholds, drepThresholds } = of;
  const models = [...of.costModels].flatMap(([language, costs]) => {
    const name = PLUTUS_LANGUAGES[language];
    return name === undefined ? [] : [{ name, language, costs }];
  });
  return {
    epoch,
    min_fee_a: of.feePerByte,
    min_fee_b: of.feeFixed,
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
    nonce: nonceOf(genesis, epoch),
    cost_models: Object.fromEntries(models.map(({ name, language, costs }) => [name, namedCosts(language, costs)])),
    cost_models_raw: Object.fromEntries(models.map(({ name, costs }) => [name, costs])),
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
    pvt_motion_no_confidence: decimal(poolThresholds.noConfidence),
    pvt_committee_normal: decimal(poolThresholds.committee),
    pvt_committee_no_confidence: decimal(poolThresholds.committeeNoConfidence),
    pvt_hard_fork_initiation: decimal(poolThresholds.hardFork),
    dvt_motion_no_confidence: decimal(drepThresholds.noConfidence),
    dvt_committee_normal: decimal(drepThresholds.committee),
    dvt_committee_no_confidence: decimal(drepThresholds.committeeNoConfidence),
    dvt_update_to_constitution: decimal(drepThresholds.constitution),
    dvt_hard_fork_initiation: decimal(drepThresholds.hardFork),
    dvt_p_p_network_group: decimal(drepThresholds.networkParameters),
    dvt_p_p_economic_group: decimal(drepThresholds.economicParameters),
    dvt_p_p_technical_group: decimal(drepThresholds.technicalParameters),
    dvt_p_p_gov_group: decimal(drepThresholds.governanceParameters),
    dvt_treasury_withdrawal: decimal(drepThresholds.treasuryWithdrawal),
    committee_min_size: String(of.committeeMinSize),
    committee_max_term_length: String(of.committeeMaxTerm),
    gov_action_lifetime: String(of.govActionLifetime),
    gov_action_deposit: String(of.govActionDeposit),
    drep_deposit: String(of.drepDeposit),
    drep_activity: String(of.drepActivity),
    pvtpp_security_group: decimal(poolThresholds.securityParameters),
    pvt_p_p_security_group: decimal(poolThresholds.securityParameters),
    min_fee_ref_script_cost_per_byte: decimal(of.refScriptCostPerByte),
  };
}

/** Parameters of Plutus V1 before protocol version 11. Their names are in alphabetical order, which is the order of the ledger. */
const SORTED_V1 = 166;

/**
 * A model by the names of its parameters, in the order of the ledger; numbers beyond those that have a name are only in the raw list.
 * Some clients sort the names of Plutus V1 (pycardano), so the later ones have a prefix that keeps their places.
 */
function namedCosts(language: number, costs: readonly bigint[]): Readonly<Record<string, bigint>> {
  const names = costModelNames(language);
  return Object.fromEntries(costs.flatMap((cost, index) => {
    const name = names[index];
    if (name === undefined) return [];
    return [[language === 0 && index >= SORTED_V1 ? `zz${index}-${name}` : name, cost]];
  }));
}

/** A devnet draws its leaders without an epoch nonce: this one depends on the network and the epoch alone. */
function nonceOf(genesis: Genesis, epoch: number): string {
  return hash256(concat(fromHex(byronHash(genesis)), utf8(String(epoch))));
}
