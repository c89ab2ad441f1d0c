/**
 * A failure on the wire: nested arrays with the numbers of the rules that lead to it, then its own number and its data.
 * Both directions are in one place, as with the shapes of queries.
 */
import { toHex } from "#src/base/bytes.ts";
import type { FailureName, FailureOf, LedgerFailure } from "#src/cardano/failure.ts";
import { CborError, type Encodable, type Item, raw } from "#src/cardano/cbor.ts";
import { type CborShape, UNVERSIONED } from "#src/node/queries/shape.ts";

/** The codec of a failure, by its name. Rejections have had one form throughout Conway. */
export interface FailureCodec {
  readonly name: FailureName;
  /** Numbers of the rules from LEDGER on, then the failure's own number. */
  readonly path: readonly number[];
  /** Decodes what follows the number. Throws `CborError`. */
  read(items: readonly Item[]): LedgerFailure;
  /** Encodes what follows the number, for a failure of this name. Throws `CborError` if a node would send more data. */
  write(failure: LedgerFailure): readonly Encodable[];
}

type FailureData<Name extends FailureName> = Omit<FailureOf<Name>, "name">;

/** A failure whose data are a sequence of fields. */
export function fieldsCodec<Name extends FailureName>(
  path: readonly number[],
  name: Name,
  fields: { readonly [K in keyof FailureData<Name>]-?: CborShape<FailureData<Name>[K]> },
): FailureCodec {
  const shapes = Object.entries<CborShape<unknown>>(fields);
  return {
    name,
    path,
    read(items) {
      exactly(items, shapes.length);
      const data = shapes.flatMap(([field, shape], i) => {
        const value = shape.read(items[i], UNVERSIONED);
        return value === undefined ? [] : [[field, value]];
      });
      return { name, ...Object.fromEntries(data) };
    },
    write(failure) {
      const values = new Map<string, unknown>(Object.entries(failure));
      return shapes.map(([field, shape]) => shape.write(values.get(field), UNVERSIONED));
    },
  };
}

/** A failure with its own codec of so many items. */
export function customCodec<Name extends FailureName>(
  path: readonly number[],
  name: Name,
  length: number,
  read: (...items: Item[]) => FailureData<Name>,
  write: (failure: FailureOf<Name>) => readonly Encodable[],
): FailureCodec {
  return {
    name,
    path,
    read(items) {
      exactly(items, length);
      return { name, ...read(...items) } as FailureOf<Name>;
    },
    write,
  };
}

/** A failure whose data are one item. */
export function itemCodec<Name extends FailureName>(
  path: readonly number[],
  name: Name,
  shape: CborShape<FailureData<Name>>,
): FailureCodec {
  return customCodec(
    path,
    name,
    1,
    (item) => shape.read(item, UNVERSIONED),
    (failure) => [shape.write(failure, UNVERSIONED)],
  );
}

function exactly(items: readonly Item[], length: number): void {
  if (items.length !== length) throw new CborError(`expected ${length} data, found ${items.length}`);
}

/** Names of the rules by their position, for messages. */
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

/** Name of the rule at a path; undefined if there is none. */
export function ruleName(path: readonly number[]): string | undefined {
  return RULES[path.join(",")];
}

/** CBOR of an item, in hexadecimal. */
export function cborHex(item: Item): string {
  return toHex(raw(item));
}
