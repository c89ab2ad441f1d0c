/** Changes of protocol parameters that an action proposes (`protocol_param_update`). */
import { mustGet } from "#src/base/maps.ts";
import { as, asInt, CborError, type Item } from "#src/cardano/cbor.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import { entries, fields, ratio, tuple, uint } from "#src/cardano/conway/strict.ts";

/** A value of a parameter: a number, a fraction, several of these, or cost models by language. */
export type ParameterValue = bigint | Ratio | readonly ParameterValue[] | ReadonlyMap<bigint, readonly bigint[]>;

/** New values by the parameter's number in the grammar, in ascending order. */
export type ParameterChanges = ReadonlyMap<number, ParameterValue>;

type Read = (item: Item) => ParameterValue;

const upTo = (bits: number): Read => (item) => uint(item, "parameter", (1n << BigInt(bits)) - 1n);
const [word16, word32, lovelace] = [upTo(16), upTo(32), upTo(64)];
const fraction: Read = (item) => ratio(item, "parameter");
const share: Read = (item) => ratio(item, "parameter", true);
const several = (count: number, read: Read): Read => (item) => tuple(item, "parameter", count).map(read);
const units = several(2, upTo(63));

/** How each parameter is read; those that Conway knows no more are missing. */
const PARAMETERS: ReadonlyMap<number, Read> = new Map([
  [0, lovelace],
  [1, lovelace],
  [2, word32],
  [3, word32],
  [4, word16],
  [5, lovelace],
  [6, lovelace],
  [7, word32],
  [8, word16],
  [9, fraction],
  [10, share],
  [11, share],
  [16, lovelace],
  [17, lovelace],
  [18, costModels],
  [19, several(2, fraction)],
  [20, units],
  [21, units],
  [22, word32],
  [23, word16],
  [24, word16],
  [25, several(5, share)],
  [26, several(10, share)],
  [27, word16],
  [28, word32],
  [29, word32],
  [30, lovelace],
  [31, lovelace],
  [32, word32],
  [33, fraction],
]);

/** Reads `protocol_param_update`. Throws `CborError`. */
export function readParameterChanges(item: Item | undefined): ParameterChanges {
  const found = fields(item, "parameters", [...PARAMETERS.keys()]);
  const changes = [...found].map(([number, of]) => [number, mustGet(PARAMETERS, number)(of)] as const);
  return new Map(changes.sort(([a], [b]) => a - b));
}

function costModels(item: Item): ReadonlyMap<bigint, readonly bigint[]> {
  const models = entries(
    item,
    "cost models",
    (language) => uint(language, "language", 255n),
    (model) => as(model, "array").value.map(int64),
  );
  return new Map(models.sort(([a], [b]) => Number(a - b)));
}

function int64(item: Item): bigint {
  const value = asInt(item);
  if (value < -(1n << 63n) || value >= 1n << 63n) throw new CborError("a cost is out of range");
  return value;
}
