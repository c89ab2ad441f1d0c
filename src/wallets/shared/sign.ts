/**
 * Signatures of one cosigner on a transaction that others may have signed. No cosigner signs for a script that the
 * present signatures satisfy: the fee pays for as many signatures as are needed (`signaturesNeeded`), and one more
 * would make it too low.
 */
import { fromHex } from "#src/base/bytes.ts";
import { elementAt } from "#src/base/present.ts";
import { as, asInt, asSet, CborError, raw } from "#src/cardano/cbor.ts";
import { derivePublic, type PublicNode } from "#src/cardano/keys/derivation.ts";
import { keyHash, verify } from "#src/cardano/keys/signingKey.ts";
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
import { nodeOf } from "#src/cardano/keys/account.ts";
import type { SharedSigning, SharedSigningInput } from "#src/wallets/shared/types.ts";

/** The parts of a transaction that decide which signatures are missing. */
interface SigningState {
  /** Hash of the body, which is signed: 64 hexadecimal digits. */
  readonly hash: string;
  /** Its native scripts, by hash. */
  readonly scripts: ReadonlyMap<string, NativeScript>;
  /** Hashes of the keys with a valid signature. */
  readonly signers: ReadonlySet<string>;
  /** Hashes of required signers. */
  readonly required: readonly string[];
  readonly interval: { readonly from: bigint | undefined; readonly before: bigint | undefined };
}

const FIELD = { keys: 0n, scripts: 1n } as const;

/**
 * Reads the signatures and scripts of a transaction.
 *
 * @throws CborError on bytes that are not a transaction.
 */
export function signingStateOf(transaction: Uint8Array): SigningState {
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

/** A script of the wallet in a transaction, and the wallet's key in it. */
interface OwnScript<P> {
  /** The script's hash. */
  readonly script: string;
  readonly path: P;
  /** Hash of the wallet's key at that path. */
  readonly key: string;
}

/**
 * Hashes of the native scripts in a transaction's witness set.
 *
 * @throws CborError on bytes that are not a transaction.
 */
export function scriptsIn(transaction: Uint8Array): string[] {
  const { witnesses } = partsOf(transaction);
  return witnesses.filter(([key]) => asInt(key) === FIELD.scripts)
    .flatMap(([, list]) => asSet(list).map((script) => nativeHash(raw(script))));
}

/**
 * Progress of signing for one cosigner; `own` are the wallet's scripts in the transaction. Verifies every signature,
 * about 1 ms each, so it runs in a builder thread.
 *
 * @throws CborError on bytes that are not a transaction.
 */
export function sharedSigning({ transaction, account, own }: SharedSigningInput): SharedSigning {
  const read = signingStateOf(transaction);
  const roles = new Map<number, PublicNode>();
  const node = (role: number) => {
    const known = roles.get(role) ?? derivePublic(nodeOf(account), role);
    roles.set(role, known);
    return known;
  };
  const scripts = own.map(({ script, path }) => ({
    script,
    path,
    key: keyHash(derivePublic(node(elementAt(path, path.length - 2)), elementAt(path, path.length - 1)).key),
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

/** Paths of keys that must still sign: for scripts that are not satisfied, and required signers. Each once. */
export function toSign<P>(transaction: SigningState, own: readonly OwnScript<P>[]): P[] {
  const wanted = own.filter(({ script, key }) => {
    if (transaction.signers.has(key)) return false;
    const native = transaction.scripts.get(script);
    return transaction.required.includes(key) ||
      native !== undefined && keysOf(native).includes(key) &&
        !agrees(native, transaction.signers, transaction.interval);
  });
  return [...new Map(wanted.map(({ key, path }) => [key, path])).values()];
}
