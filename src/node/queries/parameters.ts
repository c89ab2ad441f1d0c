/** Protocol parameters as a node reports them, in the form of each era since Shelley. */
import { as, type Item } from "#src/cardano/cbor.ts";
import type { DrepThresholds, Parameters, PoolThresholds, ProtocolParameters } from "#src/cardano/parameters.ts";
import {
  amount,
  type CborShape,
  count,
  type EncodingContext,
  listOf,
  mapOf,
  record,
  type ShapeValue,
} from "#src/node/queries/shape.ts";
import { anything, ratio, units } from "#src/node/queries/vocabulary.ts";

const head = {
  feePerByte: amount,
  feeFixed: amount,
  maxBlockBodySize: count,
  maxTxSize: count,
  maxBlockHeaderSize: count,
  keyDeposit: amount,
  poolDeposit: amount,
  poolRetirementBound: count,
  desiredPools: count,
  pledgeInfluence: ratio,
  monetaryExpansion: ratio,
  treasuryGrowth: ratio,
};
/** Until Alonzo. */
const federated = {
  /** Share of the blocks that genesis keys produce. */
  decentralisation: ratio,
  /** CBOR of a nonce: `[0]` none, `[1, hash]`. */
  extraEntropy: anything,
};
const protocolVersion = { protocolVersion: record<Parameters["protocolVersion"]>({ major: count, minor: count }) };
const prices = record<Parameters["prices"]>({ memory: ratio, steps: ratio });
const costs = listOf(amount);
const costModels: CborShape<Parameters["costModels"]> = {
  read: (item, at) => new Map(models.read(item, at)),
  write: (value, at) => models.write([...value], at),
};
const models = mapOf(
  count,
  costs,
  (a, b) => a - b,
  (language, model) => [language, model] as const,
  (entry) => entry,
);
const scripts = {
  costModels,
  prices,
  maxTxUnits: units,
  maxBlockUnits: units,
  maxValueSize: count,
  collateralPercentage: count,
  maxCollateralInputs: count,
};

const poolThresholds = record<PoolThresholds>({
  noConfidence: ratio,
  committee: ratio,
  committeeNoConfidence: ratio,
  hardFork: ratio,
  securityParameters: ratio,
});

const drepThresholds = record<DrepThresholds>({
  noConfidence: ratio,
  committee: ratio,
  committeeNoConfidence: ratio,
  constitution: ratio,
  hardFork: ratio,
  networkParameters: ratio,
  economicParameters: ratio,
  technicalParameters: ratio,
  governanceParameters: ratio,
  treasuryWithdrawal: ratio,
});

/** Parameters of Conway. */
export const conwayParameters = record<ProtocolParameters>({
  ...head,
  ...protocolVersion,
  minPoolCost: amount,
  utxoCostPerByte: amount,
  ...scripts,
  poolThresholds,
  drepThresholds,
  committeeMinSize: count,
  committeeMaxTerm: count,
  govActionLifetime: count,
  govActionDeposit: amount,
  drepDeposit: amount,
  drepActivity: count,
  refScriptCostPerByte: ratio,
});

/** Up to protocol version 20, the protocol version of eras before Conway was two elements, at this index. */
function spreadVersion<T extends object>(index: number, shape: CborShape<T>): CborShape<T> {
  return {
    read(item, at) {
      const array = as(item, "array");
      const [major, minor] = array.value.slice(index, index + 2);
      if (major?.type !== "int" || !minor) return shape.read(array, at);
      const pair: Item = { ...array, start: major.start, end: minor.end, value: [major, minor] };
      return shape.read({ ...array, value: array.value.toSpliced(index, 2, pair) }, at);
    },
    write(value, at) {
      const written = shape.write(value, at);
      return at.version < 21 && Array.isArray(written) ? written.toSpliced(index, 1, ...written[index]) : written;
    },
  };
}

/** Parameters of Shelley, Allegra and Mary; those of Shelley are in the genesis too. */
export const shelleyParameters = spreadVersion(
  14,
  record({
    ...head,
    ...federated,
    ...protocolVersion,
    /** Lovelace that every output must hold. */
    minUtxo: amount,
    minPoolCost: amount,
  }),
);

const alonzo = spreadVersion(
  14,
  record({
    ...head,
    ...federated,
    ...protocolVersion,
    minPoolCost: amount,
    /** Lovelace for each 8 bytes of an output. */
    utxoCostPerWord: amount,
    ...scripts,
  }),
);

/** Parameters of Babbage: those of Conway without governance. */
const babbage = spreadVersion(
  12,
  record({ ...head, ...protocolVersion, minPoolCost: amount, utxoCostPerByte: amount, ...scripts }),
);

/** Parameters of an era; an era that is not known yet gives its CBOR. */
type EraParameters =
  | { readonly era: "Shelley" | "Allegra" | "Mary"; readonly parameters: ShapeValue<typeof shelleyParameters> }
  | { readonly era: "Alonzo"; readonly parameters: ShapeValue<typeof alonzo> }
  | { readonly era: "Babbage"; readonly parameters: ShapeValue<typeof babbage> }
  | { readonly era: "Conway"; readonly parameters: ProtocolParameters }
  | { readonly era: "unknown"; readonly raw: Uint8Array };

const SHELLEY_TO_MARY = ["Shelley", "Allegra", "Mary"] as const;

/** Parameters, in the form of the queried era. */
export const eraParameters: CborShape<EraParameters> = {
  read(item, at): EraParameters {
    const early = SHELLEY_TO_MARY[at.era - 1];
    if (early) return { era: early, parameters: shelleyParameters.read(item, at) };
    if (at.era === 4) return { era: "Alonzo", parameters: alonzo.read(item, at) };
    if (at.era === 5) return { era: "Babbage", parameters: babbage.read(item, at) };
    if (at.era === 6) return { era: "Conway", parameters: conwayParameters.read(item, at) };
    return { era: "unknown", raw: anything.read(item, at) };
  },
  write(value, at: EncodingContext) {
    switch (value.era) {
      case "Alonzo":
        return alonzo.write(value.parameters, at);
      case "Babbage":
        return babbage.write(value.parameters, at);
      case "Conway":
        return conwayParameters.write(value.parameters, at);
      case "unknown":
        return anything.write(value.raw, at);
      default:
        return shelleyParameters.write(value.parameters, at);
    }
  },
};
