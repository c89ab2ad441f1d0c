/** Names of the parameters of cost models, as the Plutus ledger API has them (`PlutusLedgerApi.V1` to `V3`, `ParamName`). */
import layouts from "#src/plutus/machine/costLayouts.json" with { type: "json" };
import { isBuiltin, isStep, shapesOf } from "#src/plutus/machine/costModel.ts";
import type { ShapeName } from "#src/plutus/machine/costing.ts";
import type { Language, Variant } from "#src/plutus/machine/version.ts";

const LINEAR = ["intercept", "slope"] as const;
const MINIMUM = ["intercept", "minimum", "slope"] as const;
const MULTIPLIED = ["constant", "model-arguments-intercept", "model-arguments-slope"] as const;
const TWO_SLOPES = ["intercept", "slope1", "slope2"] as const;
const PARABOLA = ["c0", "c1", "c2"] as const;
const QUADRATIC = [
  "constant",
  ...["c00", "c01", "c02", "c10", "c11", "c20", "minimum"].map((name) => `model-arguments-${name}`),
] as const;

/** Names of a shape's coefficients, in the order of a cost model. */
const COEFFICIENT_NAMES: Readonly<Record<ShapeName, readonly string[]>> = {
  constant_cost: [""],
  linear_in_x: LINEAR,
  linear_in_y: LINEAR,
  linear_in_z: LINEAR,
  linear_in_u: LINEAR,
  added_sizes: LINEAR,
  multiplied_sizes: LINEAR,
  min_size: LINEAR,
  max_size: LINEAR,
  linear_in_max_yz: LINEAR,
  literal_in_y_or_linear_in_z: LINEAR,
  subtracted_sizes: MINIMUM,
  linear_on_diagonal: ["constant", "intercept", "slope"],
  linear_in_y_and_z: TWO_SLOPES,
  quadratic_in_x: PARABOLA,
  quadratic_in_y: PARABOLA,
  quadratic_in_z: PARABOLA,
  const_above_diagonal_multiplied: MULTIPLIED,
  const_above_diagonal_quadratic: QUADRATIC,
  const_above_diagonal_linear: ["constant", ...TWO_SLOPES.map((name) => `model-arguments-${name}`)],
  with_interaction_in_x_and_y: ["c00", "c10", "c01", "c11"],
  above_and_below_diagonal_multiplied: MULTIPLIED,
  above_and_below_diagonal_quadratic: QUADRATIC,
  linear_in_y_without_minimum: MINIMUM,
  exp_mod_cost: ["coefficient00", "coefficient11", "coefficient12"],
};

/** The variant whose shapes name the coefficients of a language; other variants give the same numbers other meanings. */
const VARIANTS: Readonly<Record<Language, Variant>> = { 1: "B", 2: "B", 3: "C" };

const known = new Map<number, readonly string[]>();

/** Names of a language's parameters in the order of its cost model. Languages count from 0 (Plutus V1), as in cost models. */
export function costModelNames(language: number): readonly string[] {
  if (language !== 0 && language !== 1 && language !== 2) return [];
  const names = known.get(language) ?? namesOf(language === 0 ? 1 : language === 1 ? 2 : 3);
  known.set(language, names);
  return names;
}

function namesOf(language: Language): readonly string[] {
  return layouts[language].flatMap((entry) => {
    if (isStep(entry)) return [`cek${entry}Cost-exBudgetCPU`, `cek${entry}Cost-exBudgetMemory`];
    if (!isBuiltin(entry)) throw new TypeError(`cost_layouts.json: ${entry} is no step and no built-in function`);
    const [cpu, memory] = shapesOf(entry, VARIANTS[language]);
    const named = (what: string, coefficients: readonly string[]) =>
      coefficients.map((name) => `${entry}-${what}-arguments${name === "" ? "" : `-${name}`}`);
    return [
      ...named("cpu", COEFFICIENT_NAMES[cpu]),
      ...named("memory", MEMORY_NAMES[language]?.[entry] ?? COEFFICIENT_NAMES[memory]),
    ];
  });
}

/** In Plutus V3 these two have each other's names for memory. */
const MEMORY_NAMES: Readonly<Partial<Record<Language, Readonly<Record<string, readonly string[]>>>>> = {
  3: { quotientInteger: LINEAR, remainderInteger: MINIMUM },
};
