/** Cost models of the ledger: the meaning of the integers in a language's array. */
import { mustGet } from "#src/base/maps.ts";
import { Builtin } from "#src/plutus/machine/builtin.ts";
import { BUILTIN_NAMES, type BuiltinName } from "#src/plutus/machine/builtins/names.ts";
import { definitions } from "#src/plutus/machine/builtins/table.ts";
import { COEFFICIENTS, CostFunction, MOST, type ShapeName } from "#src/plutus/machine/costing.ts";
import layouts from "#src/plutus/machine/costLayouts.json" with { type: "json" };
import { type Language, type Variant, variantOf } from "#src/plutus/machine/version.ts";

/** Shapes of a function's costing functions. */
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

/** Shapes that differ by variant: A before protocol version 9, C and E in Plutus V3, D and E from protocol version 11 on. */
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

export function shapesOf(name: BuiltinName, variant: Variant): Shapes {
  return SHAPES_OF_VARIANT[variant][name] ?? SHAPES[name] ?? CONSTANT;
}

/** Steps of the machine, by the names of the ledger's parameters. */
const STEPS = ["Apply", "Builtin", "Const", "Delay", "Force", "Lam", "Startup", "Var", "Constr", "Case"] as const;
type Step = (typeof STEPS)[number];

export const isStep = (entry: string): entry is Step => STEPS.some((step) => step === entry);
export const isBuiltin = (entry: string): entry is BuiltinName => BUILTIN_NAMES.some((name) => name === entry);

/** Price of one machine step. */
interface StepCost {
  readonly cpu: number;
  readonly memory: number;
}

/** Prices of a language in a protocol version. `builtins` are ordered by their number in the flat encoding. */
export interface CostModel {
  readonly steps: Readonly<Record<Step, StepCost>>;
  readonly builtins: readonly Builtin[];
}

/**
 * The cost model that an array of the ledger stands for. `cost_layouts.json` has the entries of each language's array in their
 * order: a step of the machine has two prices, a built-in function the coefficients of its two costing functions. Arrays of
 * older protocol versions end earlier. What the array does not reach costs more than any budget; entries that this
 * version does not know are ignored. Both are the ledger's rules.
 */
export function costModelOf(language: Language, major: number, array: readonly (bigint | number)[]): CostModel {
  const variant = variantOf(language, major);
  const steps = new Map<Step, StepCost>();
  const prices = new Map<BuiltinName, readonly [CostFunction, CostFunction]>();
  let at = 0;
  const next = () => Number(array[at++] ?? MOST);
  const read = (shape: ShapeName) => new CostFunction(shape, Array.from({ length: COEFFICIENTS[shape] }, next));
  for (const entry of layouts[language]) {
    if (isStep(entry)) {
      steps.set(entry, { cpu: next(), memory: next() });
    } else {
      if (!isBuiltin(entry)) throw new TypeError(`cost_layouts.json: ${entry} is no step and no built-in function`);
      const [cpu, memory] = shapesOf(entry, variant);
      prices.set(entry, [read(cpu), read(memory)]);
    }
  }
  const meanings = definitions(variant);
  return {
    steps: {
      Apply: mustGet(steps, "Apply"),
      Builtin: mustGet(steps, "Builtin"),
      Const: mustGet(steps, "Const"),
      Delay: mustGet(steps, "Delay"),
      Force: mustGet(steps, "Force"),
      Lam: mustGet(steps, "Lam"),
      Startup: mustGet(steps, "Startup"),
      Var: mustGet(steps, "Var"),
      Constr: mustGet(steps, "Constr"),
      Case: mustGet(steps, "Case"),
    },
    builtins: BUILTIN_NAMES.map((name) => new Builtin(name, meanings[name], ...mustGet(prices, name))),
  };
}
