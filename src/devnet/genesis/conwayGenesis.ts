/** A node's Conway genesis, read for a new devnet: parameters of governance, and who governs. */
import { z } from "zod";
import { defined } from "#src/base/present.ts";
import type { Json } from "#src/base/json.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { ProtocolParameters, Ratio } from "#src/cardano/parameters.ts";
import type { GenesisGovernance } from "#src/devnet/genesis/governance.ts";
import {
  decimalRatio,
  governanceSchema,
  lovelaceSchema,
  problemsOf,
  shareSchema,
} from "#src/devnet/genesis/governanceJson.ts";

/** Names of thresholds in a Conway genesis, by those here, in the order of the file: its hash is over that. */
const POOL_NAMES = {
  committee: "committeeNormal",
  committeeNoConfidence: "committeeNoConfidence",
  hardFork: "hardForkInitiation",
  noConfidence: "motionNoConfidence",
  securityParameters: "ppSecurityGroup",
} as const satisfies Record<keyof ProtocolParameters["poolThresholds"], string>;
const DREP_NAMES = {
  noConfidence: "motionNoConfidence",
  committee: "committeeNormal",
  committeeNoConfidence: "committeeNoConfidence",
  constitution: "updateToConstitution",
  hardFork: "hardForkInitiation",
  networkParameters: "ppNetworkGroup",
  economicParameters: "ppEconomicGroup",
  technicalParameters: "ppTechnicalGroup",
  governanceParameters: "ppGovGroup",
  treasuryWithdrawal: "treasuryWithdrawal",
} as const satisfies Record<keyof ProtocolParameters["drepThresholds"], string>;

/** An object with the names of a Conway genesis, all of them shares. */
const sharesOf = <N extends Readonly<Record<string, string>>>(names: N) =>
  z.object(Object.fromEntries(Object.values(names).map((name) => [name, shareSchema])))
    .transform((shares) =>
      Object.fromEntries(Object.entries(names).map(([own, name]) => [own, shares[name]])) as Record<keyof N, Ratio>
    );

const size = z.int().min(0).max(2 ** 32 - 1);

const parameters = z.object({
  poolVotingThresholds: sharesOf(POOL_NAMES),
  dRepVotingThresholds: sharesOf(DREP_NAMES),
  committeeMinSize: size,
  committeeMaxTermLength: size,
  govActionLifetime: size,
  govActionDeposit: lovelaceSchema,
  dRepDeposit: lovelaceSchema,
  dRepActivity: size,
  minFeeRefScriptCostPerByte: z.number().min(0).transform(decimalRatio),
}).partial().transform((stated) =>
  defined<ProtocolParameters>(
    {
      poolThresholds: stated.poolVotingThresholds,
      drepThresholds: stated.dRepVotingThresholds,
      committeeMinSize: stated.committeeMinSize,
      committeeMaxTerm: stated.committeeMaxTermLength,
      govActionLifetime: stated.govActionLifetime,
      govActionDeposit: stated.govActionDeposit,
      drepDeposit: stated.dRepDeposit,
      drepActivity: stated.dRepActivity,
      refScriptCostPerByte: stated.minFeeRefScriptCostPerByte,
    } as { [K in keyof ProtocolParameters]: ProtocolParameters[K] | undefined },
  )
);

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
  const [stated, governance] = [parameters.safeParse(json), governanceSchema.safeParse(json)];
  if (stated.success && governance.success) return ok({ parameters: stated.data, governance: governance.data });
  const problems = [stated, governance].flatMap(({ error }) => error ? problemsOf(error) : []);
  return fail("bad_genesis", `The Conway genesis is invalid: ${[...new Set(problems)].join("; ")}.`);
}

/** The members of a Conway genesis that are parameters. Shares are the nearest decimal numbers. */
export function conwayParametersJson(parameters: ProtocolParameters, decimal: (ratio: Ratio) => number) {
  const shares = <K extends string>(names: Readonly<Record<K, string>>, of: Readonly<Record<K, Ratio>>) =>
    Object.fromEntries((Object.keys(names) as K[]).map((own) => [names[own], decimal(of[own])]));
  return {
    poolVotingThresholds: shares(POOL_NAMES, parameters.poolThresholds),
    dRepVotingThresholds: shares(DREP_NAMES, parameters.drepThresholds),
    committeeMinSize: parameters.committeeMinSize,
    committeeMaxTermLength: parameters.committeeMaxTerm,
    govActionLifetime: parameters.govActionLifetime,
    govActionDeposit: parameters.govActionDeposit,
    dRepDeposit: parameters.drepDeposit,
    dRepActivity: parameters.drepActivity,
    minFeeRefScriptCostPerByte: decimal(parameters.refScriptCostPerByte),
  };
}
