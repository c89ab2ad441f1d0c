/** A node's Conway genesis, read for a new devnet: parameters of governance, and who governs. */
import { z } from "zod";
import { defined } from "#src/base/present.ts";
import type { Json } from "#src/base/json.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Parameters, ProtocolParameters } from "#src/cardano/parameters.ts";
import type { GenesisGovernance } from "#src/devnet/genesis/governance.ts";
import { decimalRatio, governanceSchema, shareSchema } from "#src/devnet/genesis/governanceJson.ts";

const size = z.int().min(0).max(2 ** 32 - 1);
const lovelace = z.union([z.int(), z.bigint()]).transform(BigInt).refine((value) => value >= 0 && value < 2n ** 63n);

const parameters = z.object({
  poolVotingThresholds: z.object({
    committeeNormal: shareSchema,
    committeeNoConfidence: shareSchema,
    hardForkInitiation: shareSchema,
    motionNoConfidence: shareSchema,
    ppSecurityGroup: shareSchema,
  }),
  dRepVotingThresholds: z.object({
    motionNoConfidence: shareSchema,
    committeeNormal: shareSchema,
    committeeNoConfidence: shareSchema,
    updateToConstitution: shareSchema,
    hardForkInitiation: shareSchema,
    ppNetworkGroup: shareSchema,
    ppEconomicGroup: shareSchema,
    ppTechnicalGroup: shareSchema,
    ppGovGroup: shareSchema,
    treasuryWithdrawal: shareSchema,
  }),
  committeeMinSize: size,
  committeeMaxTermLength: size,
  govActionLifetime: size,
  govActionDeposit: lovelace,
  dRepDeposit: lovelace,
  dRepActivity: size,
  minFeeRefScriptCostPerByte: z.number().min(0),
}).partial();

/** What a Conway genesis states for a devnet. */
export interface ConwayGenesis {
  readonly parameters: Partial<ProtocolParameters>;
  readonly governance: GenesisGovernance;
}

/**
 * Reads a Conway genesis. What it leaves out stays as it is. Its cost model is not taken: a devnet has those of its
 * protocol version. The failure names each invalid member.
 */
export function readConwayGenesis(json: Json): Result<ConwayGenesis, Failure<"bad_genesis">> {
  const read = z.object({ ...parameters.shape }).and(governanceSchema).safeParse(json);
  if (!read.success) {
    const problems = read.error.issues.map(({ path, message }) =>
      path.length ? `${path.join(".")}: ${message}` : message
    );
    return fail("bad_genesis", `The Conway genesis is invalid: ${problems.join("; ")}.`);
  }
  const stated = parameters.parse(json);
  const { dreps, delegations, constitution, committee } = read.data;
  return ok({ parameters: parametersOf(stated), governance: { dreps, delegations, constitution, committee } });
}

function parametersOf(stated: z.output<typeof parameters>): Partial<ProtocolParameters> {
  const { poolVotingThresholds: pool, dRepVotingThresholds: drep, minFeeRefScriptCostPerByte: perByte } = stated;
  return defined({
    poolThresholds: pool && {
      noConfidence: pool.motionNoConfidence,
      committee: pool.committeeNormal,
      committeeNoConfidence: pool.committeeNoConfidence,
      hardFork: pool.hardForkInitiation,
      securityParameters: pool.ppSecurityGroup,
    },
    drepThresholds: drep && {
      noConfidence: drep.motionNoConfidence,
      committee: drep.committeeNormal,
      committeeNoConfidence: drep.committeeNoConfidence,
      constitution: drep.updateToConstitution,
      hardFork: drep.hardForkInitiation,
      networkParameters: drep.ppNetworkGroup,
      economicParameters: drep.ppEconomicGroup,
      technicalParameters: drep.ppTechnicalGroup,
      governanceParameters: drep.ppGovGroup,
      treasuryWithdrawal: drep.treasuryWithdrawal,
    },
    committeeMinSize: stated.committeeMinSize,
    committeeMaxTerm: stated.committeeMaxTermLength,
    govActionLifetime: stated.govActionLifetime,
    govActionDeposit: stated.govActionDeposit,
    drepDeposit: stated.dRepDeposit,
    drepActivity: stated.dRepActivity,
    refScriptCostPerByte: perByte === undefined ? undefined : decimalRatio(perByte),
  });
}

/** The members of a Conway genesis that are parameters. Shares are the nearest decimal numbers. */
export function conwayParametersJson(
  parameters: ProtocolParameters,
  decimal: (ratio: Parameters["pledgeInfluence"]) => number,
) {
  const { poolThresholds: pool, drepThresholds: drep } = parameters;
  return {
    poolVotingThresholds: {
      committeeNormal: decimal(pool.committee),
      committeeNoConfidence: decimal(pool.committeeNoConfidence),
      hardForkInitiation: decimal(pool.hardFork),
      motionNoConfidence: decimal(pool.noConfidence),
      ppSecurityGroup: decimal(pool.securityParameters),
    },
    dRepVotingThresholds: {
      motionNoConfidence: decimal(drep.noConfidence),
      committeeNormal: decimal(drep.committee),
      committeeNoConfidence: decimal(drep.committeeNoConfidence),
      updateToConstitution: decimal(drep.constitution),
      hardForkInitiation: decimal(drep.hardFork),
      ppNetworkGroup: decimal(drep.networkParameters),
      ppEconomicGroup: decimal(drep.economicParameters),
      ppTechnicalGroup: decimal(drep.technicalParameters),
      ppGovGroup: decimal(drep.governanceParameters),
      treasuryWithdrawal: decimal(drep.treasuryWithdrawal),
    },
    committeeMinSize: parameters.committeeMinSize,
    committeeMaxTermLength: parameters.committeeMaxTerm,
    govActionLifetime: parameters.govActionLifetime,
    govActionDeposit: parameters.govActionDeposit,
    dRepDeposit: parameters.drepDeposit,
    dRepActivity: parameters.drepActivity,
    minFeeRefScriptCostPerByte: decimal(parameters.refScriptCostPerByte),
  };
}
