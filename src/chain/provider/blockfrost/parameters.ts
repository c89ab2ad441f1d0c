/**
 * Protocol parameters of a Blockfrost service.
 *
 * They are decoded from the service's document, integers with all digits: `getParameters` of `@blaze-cardano/query`
 * gives strings where it declares numbers, prices as floating-point numbers, cost models after `JSON.parse`, and
 * neither of Conway's deposits. Fractions are decimals here; one that a decimal cannot state (1/3) is as exact as the
 * service's digits.
 */
import type { z } from "zod";
import { type Parameters, PLUTUS_LANGUAGES } from "#src/cardano/parameters.ts";
import { blockfrostError } from "#src/chain/provider/blockfrost/errors.ts";
import type { parametersDocument } from "#src/chain/provider/blockfrost/documents.ts";

/** First protocol version of Conway. */
const CONWAY = 9;

/** The parameters. Throws `BlockfrostError` for those of an era before Conway. */
export function parametersOf(document: z.infer<typeof parametersDocument>): Parameters {
  if (document.protocol_major_ver < CONWAY) {
    throw blockfrostError(
      "unusable",
      `The network has protocol version ${document.protocol_major_ver}; the oldest supported version is ${CONWAY}.`,
    );
  }
  const models = PLUTUS_LANGUAGES.flatMap((name, language) => {
    const model = document.cost_models_raw[name];
    return model ? [[language, model] as const] : [];
  });
  return {
    protocolVersion: { major: document.protocol_major_ver, minor: document.protocol_minor_ver },
    feePerByte: document.min_fee_a,
    feeFixed: document.min_fee_b,
    maxTxSize: document.max_tx_size,
    maxBlockBodySize: document.max_block_size,
    maxBlockHeaderSize: document.max_block_header_size,
    maxValueSize: document.max_val_size,
    utxoCostPerByte: document.coins_per_utxo_size,
    keyDeposit: document.key_deposit,
    poolDeposit: document.pool_deposit,
    drepDeposit: document.drep_deposit,
    govActionDeposit: document.gov_action_deposit,
    minPoolCost: document.min_pool_cost,
    poolRetirementBound: document.e_max,
    desiredPools: document.n_opt,
    pledgeInfluence: document.a0,
    monetaryExpansion: document.rho,
    treasuryGrowth: document.tau,
    collateralPercentage: document.collateral_percent,
    maxCollateralInputs: document.max_collateral_inputs,
    prices: { memory: document.price_mem, steps: document.price_step },
    maxTxUnits: { memory: document.max_tx_ex_mem, steps: document.max_tx_ex_steps },
    maxBlockUnits: { memory: document.max_block_ex_mem, steps: document.max_block_ex_steps },
    refScriptCostPerByte: document.min_fee_ref_script_cost_per_byte,
    costModels: new Map(models),
  };
}
