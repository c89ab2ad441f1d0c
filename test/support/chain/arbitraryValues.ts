/** Arbitrary values of the ledger that queries and answers are made of. */
import fc from "fast-check";
import { toHex } from "#src/base/bytes.ts";
import { encode } from "#src/cardano/cbor.ts";
import type { OutRef } from "#src/cardano/output.ts";
import type { StakeOrCredential } from "#src/node/queries/pools.ts";
import { ascending } from "#src/node/queries/shape.ts";
import { compareHex, type Drep } from "#src/node/queries/vocabulary.ts";

export const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(toHex);
export const hash28 = bytes(28);
export const hash32 = bytes(32);
export const lovelace = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
export const small = fc.nat({ max: 2 ** 31 - 1 });
export const natural = fc.maxSafeNat();
export const ratio = fc.record({ numerator: lovelace, denominator: fc.bigInt({ min: 1n, max: 1n << 70n }) });
export const credential = fc.record({ kind: fc.constantFrom("key" as const, "script" as const), hash: hash28 });
export const drep: fc.Arbitrary<Drep> = fc.oneof(
  credential,
  fc.constantFrom<Drep>({ kind: "abstain" }, { kind: "no confidence" }),
);
export const stake: fc.Arbitrary<StakeOrCredential> = fc.oneof(lovelace, credential);
export const anchor = fc.record({ url: fc.string({ maxLength: 20 }), hash: hash32 });
export const opt = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
export const cbor = fc.oneof(fc.nat(), fc.string(), fc.array(fc.nat())).map((value) => encode(value));

/** So many entries that some answers are encoded with indefinite length. */
export const many = { maxLength: 26 };
/** Rows in the ledger's order of their keys, without duplicate keys. */
export const rows = <T, K>(row: fc.Arbitrary<T>, key: (row: T) => K, order: (a: K, b: K) => number) =>
  fc.array(row, many).map((all) => ascending(all, (a, b) => order(key(a), key(b))));
export const sorted = <T>(of: fc.Arbitrary<T>, order: (a: T, b: T) => number) => rows(of, (each) => each, order);

export const refs = (a: OutRef, b: OutRef) => compareHex(a.txHash, b.txHash) || a.index - b.index;
export const ref = fc.record({ txHash: hash32, index: fc.nat({ max: 65_535 }) });
