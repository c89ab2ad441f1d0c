/** Shapes of the ledger's common types: hashes, credentials, points, fractions, outputs. */
import { fromHex, toHex } from "#src/base/bytes.ts";
import type { Credential } from "#src/cardano/address.ts";
import { as, asInt, CborError, type Encodable, Encoded, type Item, raw, Tagged } from "#src/cardano/cbor.ts";
import { compareRefs, type Output, type OutRef, readOutput, readRef, type Utxo } from "#src/cardano/output.ts";
import type { Ratio, Units } from "#src/cardano/parameters.ts";
import {
  amount,
  type CborShape,
  count,
  mapOf,
  named,
  record,
  sentSet,
  type ShapeValue,
  text,
  UNVERSIONED,
} from "#src/node/queries/shape.ts";

/** A vote's delegate: a DRep, or one of the two predefined ones. */
export type Drep = Credential | { readonly kind: "abstain" } | { readonly kind: "no confidence" };

/** Order of lower-case hexadecimal texts, which is that of their bytes. */
export function compareHex(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The ledger's order of credentials: scripts first. */
export function compareCredentials(a: Credential, b: Credential): number {
  return a.kind === b.kind ? compareHex(a.hash, b.hash) : a.kind === "script" ? -1 : 1;
}

const DREPS = ["key", "script", "abstain", "no confidence"] as const;

/** The ledger's order of DReps: here keys first, then scripts, abstain, no confidence. */
export function compareDreps(a: Drep, b: Drep): number {
  return DREPS.indexOf(a.kind) - DREPS.indexOf(b.kind) || ("hash" in a && "hash" in b ? compareHex(a.hash, b.hash) : 0);
}

/** Bytes, in hexadecimal. */
export const hex: CborShape<string> = {
  read: (item) => toHex(as(item, "bytes").value),
  write: (value) => fromHex(value),
};

/** Any item, as CBOR. */
export const anything: CborShape<Uint8Array> = {
  read(item) {
    if (!item) throw new CborError("nothing is there");
    return raw(item);
  },
  write: (value) => new Encoded(value),
};

/** `[0, key hash]` or `[1, script hash]`. */
export const credential: CborShape<Credential> = {
  read(item) {
    const [kind, hash] = as(item, "array").value;
    const which = asInt(kind);
    if (which > 1n) throw new CborError(`no credential has the kind ${which}`);
    return { kind: which === 1n ? "script" : "key", hash: toHex(as(hash, "bytes").value) };
  },
  write: ({ kind, hash }) => [kind === "script" ? 1 : 0, fromHex(hash)],
};

/** `[0, key hash]`, `[1, script hash]`, `[2]` or `[3]`. */
export const drep: CborShape<Drep> = {
  read(item) {
    const [number, hash] = as(item, "array").value;
    const kind = DREPS[count.read(number, UNVERSIONED)];
    if (kind === undefined) throw new CborError("no such kind of DRep");
    return kind === "key" || kind === "script" ? { kind, hash: toHex(as(hash, "bytes").value) } : { kind };
  },
  write: (value) => [DREPS.indexOf(value.kind), ...("hash" in value ? [fromHex(value.hash)] : [])],
};

function readRatio(item: Item | undefined): Ratio {
  const [numerator, denominator] = as(item?.type === "tag" && item.tag === 30n ? item.value : item, "array").value;
  return { numerator: asInt(numerator), denominator: asInt(denominator) };
}

/** `30([numerator, denominator])`; the tag is optional when decoded. */
export const ratio: CborShape<Ratio> = {
  read: readRatio,
  write: ({ numerator, denominator }) => new Tagged(30, [numerator, denominator]),
};

/** `[numerator, denominator]`, as in the genesis. */
export const bareRatio: CborShape<Ratio> = {
  read: readRatio,
  write: ({ numerator, denominator }) => [numerator, denominator],
};

/** Stake shares: bare fractions before Conway, under tag 30 since. */
export const share: CborShape<Ratio> = {
  read: readRatio,
  write: (value, at) => (at.era < 6 ? bareRatio : ratio).write(value, at),
};

/** `[memory, steps]`. */
export const units: CborShape<Units> = record<Units>({ memory: amount, steps: amount });

/** An external document: `[url, hash]`. */
export const anchor = record({ url: text, hash: hex });
export type Anchor = ShapeValue<typeof anchor>;

/** `[transaction hash, index]`. */
export const reference: CborShape<OutRef> = {
  read(item) {
    const ref = readRef(as(item, "array"));
    if (!Number.isSafeInteger(ref.index)) throw new CborError("an index out of range");
    return ref;
  },
  write: ({ txHash, index }) => [fromHex(txHash), index],
};

const output: CborShape<Output> = {
  read: (item) => readOutput(item?.type === "array" ? item : as(item, "map")),
  write: (value) => new Encoded(value.raw),
};

/** Outputs by reference. */
export const utxos: CborShape<readonly Utxo[]> = mapOf(
  reference,
  output,
  compareRefs,
  (ref, output): Utxo => ({ ref, output }),
  (utxo) => [utxo.ref, utxo.output],
);

/** Credentials in an answer. */
export const credentials: CborShape<readonly Credential[]> = sentSet(credential, compareCredentials);

/** A floating-point number of 64 bits. */
export const double: CborShape<number> = {
  read: (item) => as(item, "float").value,
  write(value): Encodable {
    const bytes = new Uint8Array(9);
    bytes[0] = 0xfb;
    new DataView(bytes.buffer).setFloat64(1, value);
    return new Encoded(bytes);
  },
};

/** Rows of lovelace by key. */
export function amountsBy<K, Name extends string>(
  name: Name,
  key: CborShape<K>,
  order: (a: K, b: K) => number,
): CborShape<readonly ({ readonly [N in Name]: K } & { readonly lovelace: bigint })[]> {
  return mapOf(
    key,
    amount,
    order,
    (of, lovelace) => ({ ...named(name, of), lovelace }),
    (row): readonly [K, bigint] => [row[name], row.lovelace],
  );
}
