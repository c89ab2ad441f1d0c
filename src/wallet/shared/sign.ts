/**
 * What a co-owner signs of a transaction that others may have signed before. Nobody signs for a script that the signatures it has make
 * agree already: the fee is for as many as are needed (`signaturesNeeded`), and one more would make it too small.
 */
import { fromHex } from "#src/base/bytes.ts";
import { as, asInt, asSet, CborError, raw } from "#src/cardano/cbor.ts";
import { keyHash, verify } from "#src/cardano/keys.ts";
import { agrees, keysOf, nativeHash, type NativeScript, readNative } from "#src/cardano/nativeScript.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { partsOf, transactionHash } from "#src/cardano/transaction.ts";

/** What of a transaction decides who still has to sign. */
export interface Unsigned {
  /** What is signed, 64 hexadecimal digits. */
  readonly hash: string;
  /** Native scripts that it comes with, by hash. */
  readonly scripts: ReadonlyMap<string, NativeScript>;
  /** Hashes of the keys whose signatures it has, those that are right. */
  readonly signers: ReadonlySet<string>;
  /** Hashes of keys that its body asks for by themselves. */
  readonly required: readonly string[];
  readonly interval: { readonly from: bigint | undefined; readonly before: bigint | undefined };
}

const FIELD = { keys: 0n, scripts: 1n } as const;

/** Reads what signing goes by. Throws `CborError` on bytes that are no transaction. */
export function unsigned(transaction: Uint8Array): Unsigned {
  const { witnesses } = partsOf(transaction);
  const { requiredSigners, validFrom, validTo } = scanTransaction(transaction);
  const hash = transactionHash(transaction);
  const list = (field: bigint) =>
    witnesses.filter(([key]) => asInt(key) === field).flatMap(([, value]) => [...asSet(value)]);
  const signers = list(FIELD.keys).flatMap((witness) => {
    const [key, signature, more] = as(witness, "array").value;
    if (more) throw new CborError("no signature");
    const [publicKey, signed] = [as(key, "bytes").value, as(signature, "bytes").value];
    return verify(publicKey, fromHex(hash), signed) ? [keyHash(publicKey)] : [];
  });
  return {
    hash,
    scripts: new Map(list(FIELD.scripts).map((script) => [nativeHash(raw(script)), readNative(script)])),
    signers: new Set(signers),
    required: requiredSigners,
    interval: {
      from: validFrom === undefined ? undefined : BigInt(validFrom),
      before: validTo === undefined ? undefined : BigInt(validTo),
    },
  };
}

/** A script of the wallet's own in a transaction, and the wallet's key in it. */
export interface OwnScript<P> {
  /** The script's hash. */
  readonly script: string;
  readonly path: P;
  /** Hash of the wallet's key at that path. */
  readonly key: string;
}

/** Paths that are still to sign: those of scripts that do not agree yet, and of keys that the body asks for. Each once. */
export function toSign<P>(transaction: Unsigned, own: readonly OwnScript<P>[]): P[] {
  const wanted = own.filter(({ script, key }) => {
    if (transaction.signers.has(key)) return false;
    const native = transaction.scripts.get(script);
    return transaction.required.includes(key) ||
      native !== undefined && keysOf(native).includes(key) &&
        !agrees(native, transaction.signers, transaction.interval);
  });
  return [...new Map(wanted.map(({ key, path }) => [key, path])).values()];
}
