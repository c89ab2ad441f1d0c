/** Cost models of the ledger: what the integers of a language's array are the price of. */
import { Builtin } from "#src/plutus/machine/builtin.ts";
import { BUILTIN_NAMES, type BuiltinName } from "#src/plutus/machine/builtins/names.ts";
import { definitions } from "#src/plutus/machine/builtins/table.ts";
import { COEFFICIENTS, CostFunction, MOST, type ShapeName } from "#src/plutus/machine/costing.ts";
import { type Language, type Variant, variantOf } from "#src/plutus/machine/version.ts";

/** Shapes of the costs of a function: steps, memory. */
type Shapes = readonly [cpu: ShapeName, memory: ShapeName];

const CONSTANT: Shapes = ["constant_cost", "constant_cost"];
const LINEAR: Shapes = ["linear_in_x", "constant_cost"];
const LINEAR_BOTH: Shapes = ["linear_in_x", "linear_in_x"];
const COMPARED: Shapes = ["min_size", "constant_cost"];
const LOGICAL: Shapes = ["linear_in_y_and_z", "linear_in_max_yz"];
const DIVISION: Shapes = ["const_above_diagonal_multiplied", "subtracted_sizes"];

const SHAPES: Readonly<Partial<Record<BuiltinName, Shapes>>> = {
  addInteger: ["max_size", "max_size"],
  subtractInteger: ["max_size", "max_size"],
  multiplyInteger: ["multiplied_sizes", "added_sizes"],
  divideInteger: DIVISION,
  quotientInteger: DIVISION,
  remainderInteger: DIVISION,
  modInteger: DIVISION,
  equalsInteger: COMPARED,
  lessThanInteger: COMPARED,
  lessThanEqualsInteger: COMPARED,
  appendByteString: ["added_sizes", "added_sizes"],
  consByteString: ["linear_in_y", "added_sizes"],
  sliceByteString: ["linear_in_z", "linear_in_z"],
  equalsByteString: ["linear_on_diagonal", "constant_cost"],
  lessThanByteString: COMPARED,
  lessThanEqualsByteString: COMPARED,
  sha2_256: LINEAR,
  sha3_256: LINEAR,
  blake2b_256: LINEAR,
  verifyEd25519Signature: ["linear_in_y", "constant_cost"],
  appendString: ["added_sizes", "added_sizes"],
  equalsString: ["linear_on_diagonal", "constant_cost"],
  encodeUtf8: LINEAR_BOTH,
  decodeUtf8: LINEAR_BOTH,
  equalsData: COMPARED,
  serialiseData: LINEAR_BOTH,
  verifySchnorrSecp256k1Signature: ["linear_in_y", "constant_cost"],
  bls12_381_G1_scalarMul: LINEAR,
  bls12_381_G1_hashToGroup: LINEAR,
  bls12_381_G2_scalarMul: LINEAR,
  bls12_381_G2_hashToGroup: LINEAR,
  keccak_256: LINEAR,
  blake2b_224: LINEAR,
  integerToByteString: ["quadratic_in_z", "literal_in_y_or_linear_in_z"],
  byteStringToInteger: ["quadratic_in_y", "linear_in_y"],
  andByteString: LOGICAL,
  orByteString: LOGICAL,
  xorByteString: LOGICAL,
  complementByteString: LINEAR_BOTH,
  writeBits: ["linear_in_y", "linear_in_x"],
  replicateByte: LINEAR_BOTH,
  shiftByteString: LINEAR_BOTH,
  rotateByteString: LINEAR_BOTH,
  countSetBits: LINEAR,
  findFirstSetBit: LINEAR,
  ripemd_160: LINEAR,
  expModInteger: ["exp_mod_cost", "linear_in_z"],
  dropList: LINEAR,
  listToArray: LINEAR_BOTH,
  bls12_381_G1_multiScalarMul: LINEAR,
  bls12_381_G2_multiScalarMul: LINEAR,
  insertCoin: ["linear_in_u", "linear_in_u"],
  lookupCoin: ["linear_in_z", "constant_cost"],
  unionValue: ["with_interaction_in_x_and_y", "added_sizes"],
  valueContains: ["const_above_diagonal_linear", "constant_cost"],
  valueData: LINEAR_BOTH,
  unValueData: ["quadratic_in_x", "linear_in_x"],
  scaleValue: ["linear_in_y", "linear_in_y"],
};

const QUADRATIC: Shapes = ["const_above_diagonal_quadratic", "subtracted_sizes"];
const QUADRATIC_MODULO: Shapes = ["const_above_diagonal_quadratic", "linear_in_y"];

/** Where a variant differs: A before protocol version 9, C and E in Plutus V3, D and E from protocol version 11 on. */
const SHAPES_OF_VARIANT: Readonly<Record<Variant, Partial<Record<BuiltinName, Shapes>>>> = {
  A: {
    multiplyInteger: ["added_sizes", "added_sizes"],
    verifyEd25519Signature: ["linear_in_z", "constant_cost"],
  },
  B: {},
  C: {
    divideInteger: QUADRATIC,
    quotientInteger: QUADRATIC,
    remainderInteger: QUADRATIC_MODULO,
    modInteger: QUADRATIC_MODULO,
  },
  D: {
    divideInteger: ["above_and_below_diagonal_multiplied", "subtracted_sizes"],
    remainderInteger: ["const_above_diagonal_multiplied", "linear_in_y_without_minimum"],
    modInteger: ["above_and_below_diagonal_multiplied", "linear_in_y_without_minimum"],
  },
  E: {
    divideInteger: ["above_and_below_diagonal_quadratic", "subtracted_sizes"],
    quotientInteger: QUADRATIC,
    remainderInteger: QUADRATIC_MODULO,
    modInteger: ["above_and_below_diagonal_quadratic", "linear_in_y"],
  },
};

function shapesOf(name: BuiltinName, variant: Variant): Shapes {
  return SHAPES_OF_VARIANT[variant][name] ?? SHAPES[name] ?? CONSTANT;
}

/** Steps of the machine, by the names of the ledger's parameters. */
const STEPS = ["Apply", "Builtin", "Const", "Delay", "Force", "Lam", "Startup", "Var", "Constr", "Case"] as const;
type Step = (typeof STEPS)[number];

/** An entry of an array: the two prices of a step of the machine, or the costing functions of a built-in function. */
type Entry = Step | BuiltinName;

const words = (text: string): readonly Entry[] => text.trim().split(/\s+/) as Entry[];

const FIRST = words(
  `addInteger appendByteString appendString bData blake2b_256 Apply Builtin Const Delay Force Lam Startup Var
  chooseData chooseList chooseUnit consByteString constrData decodeUtf8 divideInteger encodeUtf8 equalsByteString equalsData
  equalsInteger equalsString fstPair headList iData ifThenElse indexByteString lengthOfByteString lessThanByteString
  lessThanEqualsByteString lessThanEqualsInteger lessThanInteger listData mapData mkCons mkNilData mkNilPairData mkPairData
  modInteger multiplyInteger nullList quotientInteger remainderInteger`,
);
const SECOND = words(
  `sha2_256 sha3_256 sliceByteString sndPair subtractInteger tailList trace unBData unConstrData unIData unListData
  unMapData`,
);
const BABBAGE = words("verifyEcdsaSecp256k1Signature verifyEd25519Signature verifySchnorrSecp256k1Signature");
const CONSTR_CASE = words("Constr Case");
const BLS_AND_HASHES = words(
  `bls12_381_G1_add bls12_381_G1_compress bls12_381_G1_equal bls12_381_G1_hashToGroup bls12_381_G1_neg
  bls12_381_G1_scalarMul bls12_381_G1_uncompress bls12_381_G2_add bls12_381_G2_compress bls12_381_G2_equal
  bls12_381_G2_hashToGroup bls12_381_G2_neg bls12_381_G2_scalarMul bls12_381_G2_uncompress bls12_381_finalVerify
  bls12_381_millerLoop bls12_381_mulMlResult keccak_256 blake2b_224`,
);
const CONVERSIONS = words("integerToByteString byteStringToInteger");
const BITS = words(
  `andByteString orByteString xorByteString complementByteString readBit writeBits replicateByte shiftByteString
  rotateByteString countSetBits findFirstSetBit ripemd_160`,
);
const VAN_ROSSEM = words(`expModInteger dropList lengthOfArray listToArray indexArray bls12_381_G1_multiScalarMul
  bls12_381_G2_multiScalarMul insertCoin lookupCoin unionValue valueContains valueData unValueData scaleValue`);

/** What the entries of a language's array are, in their order. Arrays of older protocol versions end earlier. */
const LAYOUTS: Readonly<Record<Language, readonly Entry[]>> = {
  1: [
    ...FIRST,
    ...SECOND,
    "verifyEd25519Signature",
    "serialiseData",
    "verifyEcdsaSecp256k1Signature",
    "verifySchnorrSecp256k1Signature",
    ...CONSTR_CASE,
    ...BLS_AND_HASHES,
    ...CONVERSIONS,
    ...BITS,
    ...VAN_ROSSEM,
  ],
  2: [
    ...FIRST,
    "serialiseData",
    ...SECOND,
    ...BABBAGE,
    ...CONVERSIONS,
    ...CONSTR_CASE,
    ...BLS_AND_HASHES,
    ...BITS,
    ...VAN_ROSSEM,
  ],
  3: [
    ...FIRST,
    "serialiseData",
    ...SECOND,
    ...BABBAGE,
    ...CONSTR_CASE,
    ...BLS_AND_HASHES,
    ...CONVERSIONS,
    ...BITS,
    ...VAN_ROSSEM,
  ],
};

const isStep = (entry: Entry): entry is Step => (STEPS as readonly string[]).includes(entry);

/** What one step of a kind costs. */
export interface StepCost {
  readonly cpu: number;
  readonly memory: number;
}

/** Prices of a language under a protocol version, and its built-in functions by their number in the flat encoding. */
export interface CostModel {
  readonly steps: Readonly<Record<Step, StepCost>>;
  readonly builtins: readonly Builtin[];
}

/**
 * The cost model that an array of the ledger stands for. What the array does not reach costs more than any budget; entries that this
 * version does not know are ignored. Both are the ledger's rules.
 */
export function costModelOf(language: Language, major: number, array: readonly (bigint | number)[]): CostModel {
  const variant = variantOf(language, major);
  const steps: Partial<Record<Step, StepCost>> = {};
  const prices: Partial<Record<BuiltinName, readonly [CostFunction, CostFunction]>> = {};
  let at = 0;
  const next = () => Number(array[at++] ?? MOST);
  const read = (shape: ShapeName) => new CostFunction(shape, Array.from({ length: COEFFICIENTS[shape] }, next));
  for (const entry of LAYOUTS[language]) {
    if (isStep(entry)) {
      steps[entry] = { cpu: next(), memory: next() };
    } else {
      const [cpu, memory] = shapesOf(entry, variant);
      prices[entry] = [read(cpu), read(memory)];
    }
  }
  const meanings = definitions(variant);
  return {
    steps: steps as Record<Step, StepCost>,
    builtins: BUILTIN_NAMES.map((name) => new Builtin(name, meanings[name], ...prices[name]!)),
  };
}
