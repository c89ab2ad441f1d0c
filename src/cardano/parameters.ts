/** Protocol parameters of the Conway era, as far as building and checking transactions needs them. */

/** A fraction; exact, unlike a floating-point number. */
export interface Ratio {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Execution units: memory and steps. */
export interface Units {
  readonly memory: bigint;
  readonly steps: bigint;
}

/** Names of the Plutus languages in parameters, by the numbers that `costModels` has. */
export const PLUTUS_LANGUAGES = ["PlutusV1", "PlutusV2", "PlutusV3"] as const;

/** Protocol parameters. Amounts are lovelace, sizes bytes. */
export interface Parameters {
  readonly protocolVersion: { readonly major: number; readonly minor: number };
  /** Lovelace for each byte of a transaction (`txFeePerByte`). */
  readonly feePerByte: bigint;
  /** Lovelace for each transaction (`txFeeFixed`). */
  readonly feeFixed: bigint;
  readonly maxTxSize: number;
  readonly maxBlockBodySize: number;
  readonly maxBlockHeaderSize: number;
  readonly maxValueSize: number;
  /** Lovelace for each byte of an output (`utxoCostPerByte`). */
  readonly utxoCostPerByte: bigint;
  readonly keyDeposit: bigint;
  readonly poolDeposit: bigint;
  readonly drepDeposit: bigint;
  readonly govActionDeposit: bigint;
  readonly minPoolCost: bigint;
  /** Epochs ahead that a retirement may be announced. */
  readonly poolRetirementBound: number;
  /** How many pools there should be (`nOpt`, also k): a pool with more than its share of the stake earns no more. */
  readonly desiredPools: number;
  /** How much a pledge counts (`a0`). */
  readonly pledgeInfluence: Ratio;
  /** Share of the reserves that each epoch pays out (`rho`). */
  readonly monetaryExpansion: Ratio;
  /** Share of an epoch's rewards that goes to the treasury (`tau`). */
  readonly treasuryGrowth: Ratio;
  readonly collateralPercentage: number;
  readonly maxCollateralInputs: number;
  readonly prices: { readonly memory: Ratio; readonly steps: Ratio };
  readonly maxTxUnits: Units;
  readonly maxBlockUnits: Units;
  /** Lovelace for each byte of reference scripts, growing by 1.2 for each 25,600 bytes (Conway, `minFeeRefScriptCostPerByte`). */
  readonly refScriptCostPerByte: Ratio;
  /** Cost models by language: 0 Plutus V1, 1 V2, 2 V3. */
  readonly costModels: ReadonlyMap<number, readonly bigint[]>;
}

/** Shares of the stake of pools that an action needs, by the kind of action. */
export interface PoolThresholds {
  readonly noConfidence: Ratio;
  readonly committee: Ratio;
  readonly committeeNoConfidence: Ratio;
  readonly hardFork: Ratio;
  readonly securityParameters: Ratio;
}

/** The members of `PoolThresholds`, in the order of the parameter. */
export const POOL_THRESHOLDS = [
  "noConfidence",
  "committee",
  "committeeNoConfidence",
  "hardFork",
  "securityParameters",
] as const satisfies readonly (keyof PoolThresholds)[];

/** Shares of the stake of DReps that an action needs, by the kind of action and the group of parameters that it changes. */
export interface DrepThresholds {
  readonly noConfidence: Ratio;
  readonly committee: Ratio;
  readonly committeeNoConfidence: Ratio;
  readonly constitution: Ratio;
  readonly hardFork: Ratio;
  readonly networkParameters: Ratio;
  readonly economicParameters: Ratio;
  readonly technicalParameters: Ratio;
  readonly governanceParameters: Ratio;
  readonly treasuryWithdrawal: Ratio;
}

/** The members of `DrepThresholds`, in the order of the parameter. */
export const DREP_THRESHOLDS = [
  "noConfidence",
  "committee",
  "committeeNoConfidence",
  "constitution",
  "hardFork",
  "networkParameters",
  "economicParameters",
  "technicalParameters",
  "governanceParameters",
  "treasuryWithdrawal",
] as const satisfies readonly (keyof DrepThresholds)[];

/** Every protocol parameter of the Conway era: those above, and those that only governance uses. */
export interface ProtocolParameters extends Parameters {
  readonly poolThresholds: PoolThresholds;
  readonly drepThresholds: DrepThresholds;
  readonly committeeMinSize: number;
  /** Epochs that a member of the committee may serve at most. */
  readonly committeeMaxTerm: number;
  /** Epochs until an action lapses. */
  readonly govActionLifetime: number;
  /** Epochs without activity after which a DRep is inactive. */
  readonly drepActivity: number;
}

/** How slots map to time: slot `zeroSlot` begins at `zeroTime` (ms since 1970), each slot lasts `slotLength` ms. */
export interface SlotConfig {
  readonly zeroTime: number;
  readonly zeroSlot: number;
  readonly slotLength: number;
}

/** The slot of a time in ms since 1970. */
export function slotAt(config: SlotConfig, time: number): number {
  return config.zeroSlot + Math.floor((time - config.zeroTime) / config.slotLength);
}

/** How a network maps time to slots now. */
export interface SlotClock {
  readonly slots: SlotConfig;
  /** By how many slots the network runs ahead of the time that `slots` states: a devnet may. 0 where undefined. */
  readonly slotsAhead?: number | undefined;
}

/** The current slot of a network at a time in ms since 1970. A network that runs ahead has made later slots than that time's. */
export function currentSlot({ slots, slotsAhead = 0 }: SlotClock, now: number): number {
  return slotAt(slots, now) + slotsAhead;
}

/** When a slot begins, in ms since 1970. */
export function slotTime(config: SlotConfig, slot: number): number {
  return config.zeroTime + (slot - config.zeroSlot) * config.slotLength;
}
