/**
 * A failure on the wire: nested arrays with the numbers of the rules that lead to it, then its own number and its data.
 * Both directions are in one place, as with the shapes of queries.
 */
import { toHex } from "#src/base/bytes.ts";
import type { FailureName, FailureOf } from "#src/cardano/failure.ts";
import { CborError, type Encodable, type Item, raw } from "#src/cardano/cbor.ts";
import type { CborShape, EncodingContext } from "#src/node/queries/shape.ts";

/** Version and era for shapes; they do not matter here, since rejections have had one form throughout Conway. */
export const SHAPE_CONTEXT: EncodingContext = { version: 23, era: 6 };

/** The codec of a failure, by its name. */
export interface FailureCodec<Name extends FailureName = FailureName> {
  readonly name: Name;
  /** Numbers of the rules from LEDGER on, then the failure's own number. */
  readonly path: readonly number[];
  /** Decodes what follows the number. Throws `CborError`. */
  read(items: readonly Item[]): FailureOf<Name>;
  /** Encodes what follows the number; undefined if the data lack something that a node would send. */
  write(failure: FailureOf<Name>): readonly Encodable[] | undefined;
}

type FailureData<Name extends FailureName> = Omit<FailureOf<Name>, "name">;

/** A failure whose data are a sequence of fields. */
export function fieldsCodec<Name extends FailureName>(
  path: readonly number[],
  name: Name,
  fields: { readonly [K in keyof FailureData<Name>]-?: CborShape<FailureData<Name>[K]> },
): FailureCodec<Name> {
  const shapes = Object.entries(fields) as [string, CborShape<unknown>][];
  return {
    name,
    path,
    read(items) {
      exactly(items, shapes.length);
      const data = shapes.flatMap(([field, shape], i) => {
        const value = shape.read(items[i], SHAPE_CONTEXT);
        return value === undefined ? [] : [[field, value]];
      });
      return { name, ...Object.fromEntries(data) } as unknown as FailureOf<Name>;
    },
    write(failure) {
      const values = failure as unknown as Readonly<Record<string, unknown>>;
      return shapes.map(([field, shape]) => shape.write(values[field], SHAPE_CONTEXT));
    },
  };
}

/** A failure with its own codec. */
export function customCodec<Name extends FailureName>(
  path: readonly number[],
  name: Name,
  length: number,
  read: (...items: Item[]) => FailureData<Name>,
  write: (failure: FailureOf<Name>) => readonly Encodable[] | undefined,
): FailureCodec<Name> {
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

/** A single field, if it is known. */
export const singleField = (datum: Encodable | undefined) => (datum === undefined ? undefined : [datum]);

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
