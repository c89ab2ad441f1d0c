/**
 * Parameters in the forms of Yaci Store's versions. From its source: `ProtocolParamsDto` of 0.1 has Conway's deposits as
 * numbers, `ProtocolParamsDtoTest` of 3.0 as texts; `DomainMapperDecorator` names the costs of a model, or numbers them
 * from "000".
 */
import { expect, test } from "vitest";
import { costModelNames } from "#src/plutus/costModelNames.ts";
import { yaciParameters } from "#src/chain/provider/yaci/documents.ts";

const names = costModelNames(0);
const named = Object.fromEntries(names.map((name, i) => [name, i]).reverse());
const parameters = {
  min_fee_a: 44,
  min_fee_b: 155381,
  max_block_size: 90112,
  max_tx_size: 16384,
  max_block_header_size: 1100,
  key_deposit: "2000000",
  pool_deposit: "500000000",
  e_max: 18,
  n_opt: 500,
  a0: 0.3,
  rho: 0.003,
  tau: 0.2,
  decentralisation_param: 0,
  protocol_major_ver: 10,
  protocol_minor_ver: 0,
  min_utxo: "4310",
  min_pool_cost: "170000000",
  price_mem: 0.0577,
  price_step: 0.0000721,
  max_tx_ex_mem: "14000000",
  max_tx_ex_steps: "10000000000",
  max_block_ex_mem: "62000000",
  max_block_ex_steps: "20000000000",
  max_val_size: "5000",
  collateral_percent: 150,
  max_collateral_inputs: 3,
  coins_per_utxo_size: "4310",
  gov_action_deposit: 100000000000,
  drep_deposit: 500000000,
  min_fee_ref_script_cost_per_byte: 15,
};
const models = (PlutusV1: object) => ({ ...parameters, cost_models: { PlutusV1 } });

test("deposits are numbers or texts", () => {
  const texts = { ...models(named), drep_deposit: "500000000", gov_action_deposit: "100000000000" };
  for (const document of [models(named), texts]) {
    expect(yaciParameters.parse(document)).toMatchObject({
      drep_deposit: 500_000_000n,
      gov_action_deposit: 100_000_000_000n,
      price_step: { numerator: 721n, denominator: 10_000_000n },
    });
  }
});

test("costs are in the ledger's order, however they are named and whatever their order in the document", () => {
  const costs = names.map((_, i) => BigInt(i));
  const numbered = Object.fromEntries(names.map((_, i) => [String(i).padStart(3, "0"), i]).reverse());
  for (const model of [named, numbered]) {
    expect(yaciParameters.parse(models(model)).cost_models_raw).toEqual({ PlutusV1: costs });
  }
  const lists = { ...models(named), cost_models_raw: { PlutusV3: [7] } };
  expect(yaciParameters.parse(lists).cost_models_raw).toEqual({ PlutusV3: [7n] });
});

test.each([
  ["an unknown name", models({ ...named, "newInteger-cpu-arguments": 1 })],
  ["a missing cost", models(Object.fromEntries(Object.entries(named).slice(0, -1)))],
  ["no models", { ...parameters, cost_models: null }],
  ["no price of reference scripts", { ...models(named), min_fee_ref_script_cost_per_byte: undefined }],
])("parameters with %s are refused", (_what, document) => {
  expect(yaciParameters.safeParse(document).success).toBe(false);
});
