/** Proposed changes of protocol parameters (`ChangedParameters`): a map from the parameter's number, in ascending order, to its new value. */
import type { ParameterChanges, ParameterValue } from "#src/cardano/conway/parameterChanges.ts";
import { type Data, DataMap } from "#src/cardano/data.ts";
import type { Ratio } from "#src/cardano/parameters.ts";

/** `ChangedParameters`. */
export function changedParameters(changes: ParameterChanges): DataMap {
  return new DataMap([...changes].map(([number, value]) => [BigInt(number), valueOf(value)]));
}

/** A fraction is a list of two here, while the quorum of a committee is a constructor. */
function valueOf(value: ParameterValue): Data {
  if (typeof value === "bigint") return value;
  if (value instanceof Map) return new DataMap([...value]);
  if ("denominator" in value) {
    const { numerator, denominator } = reduced(value);
    return [numerator, denominator];
  }
  return (value as readonly ParameterValue[]).map(valueOf);
}

/** A fraction in lowest terms, as the ledger holds all of them. */
export function reduced({ numerator, denominator }: Ratio): Ratio {
  let [a, b] = [numerator, denominator];
  while (b !== 0n) [a, b] = [b, a % b];
  return { numerator: numerator / a, denominator: denominator / a };
}
