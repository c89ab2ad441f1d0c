/**
 * One failure on the wire: an array of the numbers of the rules that lead to it, nested, then its own number and its data. Both
 * directions in one place, as the shapes of queries are.
 */
import { toHex } from "#src/base/bytes.ts";
import type { FailureName, FailureOf } from "#src/cardano/failure.ts";
import { CborError, type Encodable, type Item, raw } from "#src/cardano/cbor.ts";
import type { At, Shape } from "#src/node/queries/shape.ts";

/** Shapes look at neither version nor era here: rejections have had one form throughout Conway. */
export const AT: At = { version: 23, era: 6 };

/** A failure, by its name. */
export interface Leaf<Name extends FailureName = FailureName> {
  readonly name: Name;
  /** Numbers of rules from LEDGER on, the failure's own last. */
  readonly path: readonly number[];
  /** Reads what follows the number. Throws `CborError`. */
  read(items: readonly Item[]): FailureOf<Name>;
  /** What follows the number; undefined when what a node would tell is not known. */
  write(failure: FailureOf<Name>): readonly Encodable[] | undefined;
}

type Data<Name extends FailureName> = Omit<FailureOf<Name>, "name">;

/** A failure whose data stand one after the other, in this order. */
export function leaf<Name extends FailureName>(
  path: readonly number[],
  name: Name,
  fields: { readonly [K in keyof Data<Name>]-?: Shape<Data<Name>[K]> },
): Leaf<Name> {
  const shapes = Object.entries(fields) as [string, Shape<unknown>][];
  return {
    name,
    path,
    read(items) {
      exactly(items, shapes.length);
      const data = shapes.flatMap(([field, shape], i) => {
        const value = shape.read(items[i], AT);
        return value === undefined ? [] : [[field, value]];
      });
      return { name, ...Object.fromEntries(data) } as unknown as FailureOf<Name>;
    },
    write(failure) {
      const values = failure as unknown as Readonly<Record<string, unknown>>;
      return shapes.map(([field, shape]) => shape.write(values[field], AT));
    },
  };
}

/** A failure with a form of its own. */
export function special<Name extends FailureName>(
  path: readonly number[],
  name: Name,
  length: number,
  read: (...items: Item[]) => Data<Name>,
  write: (failure: FailureOf<Name>) => readonly Encodable[] | undefined,
): Leaf<Name> {
  return {
    name,
    path,
    read(items) {
      exactly(items, length);
      return { name, ...read(...items) } as unknown as FailureOf<Name>;
    },
    write,
  };
}

/** The only datum of a failure, where it is known. */
export const only = (datum: Encodable | undefined) => (datum === undefined ? undefined : [datum]);

function exactly(items: readonly Item[], length: number): void {
  if (items.length !== length) throw new CborError(`expected ${length} data, found ${items.length}`);
}

/** Where rules stand in the tree, for sentences. */
const RULES: Readonly<Record<string, string>> = {
  "": "LEDGER",
  "1": "UTXOW",
  "1,0": "UTXO",
  "1,0,0": "UTXOS",
  "2": "CERTS",
  "2,1": "CERT",
  "2,1,1": "DELEG",
  "2,1,2": "POOL",
  "2,1,3": "GOVCERT",
  "3": "GOV",
};

/** Name of the rule at a path; undefined where no rule stands. */
export function ruleAt(path: readonly number[]): string | undefined {
  return RULES[path.join(",")];
}

/** Hexadecimal CBOR of an item. */
export function cborHex(item: Item): string {
  return toHex(raw(item));
}
