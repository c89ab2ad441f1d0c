/**
 * Protocol parameters as a Blockfrost service tells them.
 *
 * They are read out of the service's own document, every integer with all of its digits: `getParameters` of `@blaze-cardano/query` gives
 * texts where it declares numbers, prices as floating-point numbers, cost models after `JSON.parse` and neither of the deposits that Conway has.
 * Fractions come as decimals here; one that a decimal does not state exactly (1/3) is as exact as the service's digits.
 */
import type { z } from "zod";
import type { Parameters } from "#src/cardano/parameters.ts";
import { apiError } from "#src/chain/provider/blockfrost/errors.ts";
import type { parametersDocument } from "#src/chain/provider/blockfrost/documents.ts";

/** First protocol version of Conway. */
const CONWAY = 9;
const LANGUAGES: Readonly<Record<string, number>> = { PlutusV1: 0, PlutusV2: 1, PlutusV3: 2 };

/** The parameters. Throws `ApiError` for those of an era before Conway. */
export function parametersOf(told: z.infer<typeof parametersDocument>): Parameters {
  if (told.protocol_major_ver < CONWAY) {
    throw apiError(
      "unusable",
      `The network has protocol version ${told.protocol_major_ver}; ${CONWAY} is the first that is built for.`,
    );
  }
  const models = Object.entries(told.cost_models_raw).flatMap(([name, model]) =>
    name in LANGUAGES ? [[LANGUAGES[name]!, model] as const] : []
  );
  return {
    protocolVersion: { major: told.protocol_major_ver, minor: told.protocol_minor_ver },
    feePerByte: told.min_fee_a,
    feeFixed: told.min_fee_b,
    maxTxSize: told.max_tx_size,
    maxBlockBodySize: told.max_block_size,
    maxBlockHeaderSize: told.max_block_header_size,
    maxValueSize: told.max_val_size,
    utxoCostPerByte: told.coins_per_utxo_size,
    keyDeposit: told.key_deposit,
    poolDeposit: told.pool_deposit,
    drepDeposit: told.drep_deposit,
    govActionDeposit: told.gov_action_deposit,
    minPoolCost: told.min_pool_cost,
    poolRetirementBound: told.e_max,
    desiredPools: told.n_opt,
    pledgeInfluence: told.a0,
    monetaryExpansion: told.rho,
    treasuryGrowth: told.tau,
    collateralPercentage: told.collateral_percent,
    maxCollateralInputs: told.max_collateral_inputs,
    prices: { memory: told.price_mem, steps: told.price_step },
    maxTxUnits: { memory: told.max_tx_ex_mem, steps: told.max_tx_ex_steps },
    maxBlockUnits: { memory: told.max_block_ex_mem, steps: told.max_block_ex_steps },
    refScriptCostPerByte: told.min_fee_ref_script_cost_per_byte,
    costModels: new Map(models.sort(([a], [b]) => a - b)),
  };
}
