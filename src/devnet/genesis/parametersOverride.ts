/** Protocol parameters with some replaced by JSON, with names and forms as in `GET /parameters`. */
import { z } from "zod";
import type { Json } from "#src/base/json.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { ParameterChanges } from "#src/cardano/conway/parameterChanges.ts";
import { DREP_THRESHOLDS, type Parameters, PLUTUS_LANGUAGES, POOL_THRESHOLDS } from "#src/cardano/parameters.ts";
import { problemsOf } from "#src/devnet/genesis/governanceJson.ts";
import { parametersFromJson } from "#src/devnet/genesis/parametersJson.ts";
import { changesOf, protocolParameters } from "#src/ledger/governance/parameters.ts";

const integer = z.union([z.int(), z.bigint()]);
const amount = integer.refine((value) => value >= 0 && value < 2n ** 63n, "is no amount");
const size = z.int().min(0).max(2 ** 32 - 1);
const ratio = z.strictObject({
  numerator: amount,
  denominator: amount.refine((value) => value > 0, "is not positive"),
});
const part = ratio.refine(({ numerator, denominator }) => numerator <= denominator, "is above 1");
const units = z.strictObject({ memory: amount, steps: amount });
const shares = (...names: readonly string[]) => z.strictObject(Object.fromEntries(names.map((name) => [name, part])));
const model = z.array(integer).min(1);

const overrides = z.strictObject({
  protocolVersion: z.strictObject({ major: z.int().min(9).max(11), minor: size }),
  feePerByte: amount,
  feeFixed: amount,
  maxTxSize: size,
  maxBlockBodySize: size,
  maxBlockHeaderSize: size,
  maxValueSize: size,
  utxoCostPerByte: amount,
  keyDeposit: amount,
  poolDeposit: amount,
  drepDeposit: amount,
  govActionDeposit: amount,
  minPoolCost: amount,
  poolRetirementBound: size,
  desiredPools: size.min(1),
  pledgeInfluence: ratio,
  monetaryExpansion: part,
  treasuryGrowth: part,
  collateralPercentage: size,
  maxCollateralInputs: size,
  prices: z.strictObject({ memory: ratio, steps: ratio }),
  maxTxUnits: units,
  maxBlockUnits: units,
  refScriptCostPerByte: ratio,
  poolThresholds: shares(...POOL_THRESHOLDS),
  drepThresholds: shares(...DREP_THRESHOLDS),
  committeeMinSize: size,
  committeeMaxTerm: size,
  govActionLifetime: size,
  drepActivity: size,
  costModels: z.strictObject({ PlutusV1: model, PlutusV2: model, PlutusV3: model }).partial(),
}).partial();

/** Changes of parameters for a governance action: those of a JSON object. The failure is as of `overrideParameters`. */
export function namedChanges(base: Parameters, json: Json): Result<ParameterChanges, Failure<"bad_parameters">> {
  const read = overrides.omit({ protocolVersion: true }).safeParse(json);
  if (!read.success) return invalid(read.error);
  const models = Object.keys(read.data.costModels ?? {});
  const costModels = new Map(
    [...parametersFromJson(json, base).costModels].filter(([language]) =>
      models.includes(PLUTUS_LANGUAGES[language] ?? "")
    ),
  );
  const names = Object.keys(read.data) as (keyof typeof read.data)[];
  return ok(changesOf(protocolParameters({ ...parametersFromJson(json, base), costModels }), names));
}

/** Replaces parameters by those of a JSON object. The failure lists each unknown name and each invalid value. */
export function overrideParameters(base: Parameters, json: Json): Result<Parameters, Failure<"bad_parameters">> {
  const read = overrides.safeParse(json);
  if (!read.success) return invalid(read.error);
  const replaced = parametersFromJson(json, base);
  return ok({ ...replaced, costModels: new Map([...base.costModels, ...replaced.costModels]) });
}

function invalid(error: z.ZodError): Result<never, Failure<"bad_parameters">> {
  return fail("bad_parameters", `The protocol parameters are invalid: ${problemsOf(error).join("; ")}.`);
}
