/**
 * What a co-owner signs of a transaction that others may have signed before. Nobody signs for a script that the signatures it has make
 * agree already: the fee is for as many as are needed (`signaturesNeeded`), and one more would make it too small.
 */
import { fromHex } from "#src/base/bytes.ts";
import { as, asInt, asSet, CborError, raw } from "#src/cardano/cbor.ts";
import { derivePublic, type PublicNode } from "#src/cardano/derivation.ts";
import { keyHash, verify } from "#src/cardano/keys.ts";
import {
  agrees,
  keysOf,
  nativeHash,
  type NativeScript,
  readNative,
  signaturesNeeded,
} from "#src/cardano/nativeScript.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { partsOf, transactionHash } from "#src/cardano/transaction.ts";
import { readXpub } from "#src/wallet/keys/account.ts";
import type { SharedSigning, SharedSigningInput } from "#src/wallet/shared/types.ts";

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

/** Hashes of the native scripts that a transaction comes with: whose they are decides who signs. Throws `CborError`. */
export function scriptsIn(transaction: Uint8Array): string[] {
  const { witnesses } = partsOf(transaction);
  return witnesses.filter(([key]) => asInt(key) === FIELD.scripts)
    .flatMap(([, list]) => asSet(list).map((script) => nativeHash(raw(script))));
}

/**
 * How far the signing of a transaction is for a wallet: what of it is the wallet's own is given by the hashes of its scripts. Checks every
 * signature there is, so that it takes a millisecond for each: in a builder thread. Throws `CborError`.
 */
export function sharedSigning({ transaction, account, own }: SharedSigningInput): SharedSigning {
  const read = unsigned(transaction);
  const roles = new Map<number, PublicNode>();
  const node = (role: number) => {
    const known = roles.get(role) ?? derivePublic(readXpub(account)!, role);
    roles.set(role, known);
    return known;
  };
  const scripts = own.map(({ script, path }) => ({
    script,
    path,
    key: keyHash(derivePublic(node(path.at(-2)!), path.at(-1)!).key),
  }));
  const natives = own.flatMap(({ script }) => read.scripts.get(script) ?? []);
  const keys = new Set(natives.flatMap(keysOf));
  return {
    hash: read.hash,
    paths: toSign(read, scripts),
    agrees: natives.every((native) => agrees(native, read.signers, read.interval)),
    expected: natives.reduce((sum, native) => sum + signaturesNeeded(native), 0),
    detected: [...read.signers].filter((key) => keys.has(key)).length,
  };
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
