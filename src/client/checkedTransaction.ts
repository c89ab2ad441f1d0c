/**
 * Transactions that may be signed: those that were built by another process and that the check here found to do what was
 * intended and nothing else. `signTransaction` and `submitAndWait` take no others, neither at compile time nor at run time.
 *
 * @example
 * ```ts
 * import { checkTransaction } from "./src/client/checkedTransaction.ts";
 * import { signTransaction, type TokenClient, type Unsigned } from "./src/client/tokens.ts";
 * import type { SigningKey } from "./src/cardano/keys/signingKey.ts";
 *
 * // a transaction that came from elsewhere than from a build of `TokenClient`, which checks by itself
 * export async function endToken(client: TokenClient, built: Unsigned, token: string, address: string, key: SigningKey) {
 *   const checked = await checkTransaction(built, { type: "end", token, address });
 *   if (!checked.ok) throw new Error(checked.error.message);
 *   return await client.submitAndWait(signTransaction(checked.value, key));
 * }
 * ```
 */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { publicKey, sign, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import { addWitness, type KeyWitness, partsOf, transactionHash } from "#src/cardano/transaction.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import {
  checkSummary,
  type Intent,
  type IntentRefusal,
  requireIntent,
  type Resolve,
  type Summary,
} from "#src/client/summary.ts";
import { addWitnessSet, keyWitnesses } from "#src/client/witnesses.ts";

/** The only way to make a `CheckedTransaction`; it does not leave this module. */
const BY_CHECK = Symbol("checked");

/** A transaction that does exactly what was intended, with the signatures that were added since. */
export class CheckedTransaction {
  readonly #cbor: string;

  /** @throws {TypeError} outside this module: only `checkTransaction` and `checkBytes` make one. */
  constructor(by: symbol, cbor: string, readonly intent: Intent, readonly summary: Summary) {
    if (by !== BY_CHECK) throw new TypeError("a transaction is checked by checkTransaction or checkBytes");
    this.#cbor = cbor;
  }

  /** CBOR in hexadecimal. */
  get cbor(): string {
    return this.#cbor;
  }

  /** Hash of the transaction: its id. */
  get hash(): string {
    return transactionHash(fromHex(this.#cbor));
  }

  /** Whether a value was made by this class: an object with the same members is not enough. */
  static is(value: unknown): value is CheckedTransaction {
    return typeof value === "object" && value !== null && #cbor in value;
  }

  /**
   * The transaction with the key signatures of a witness set, which `signTx` of a browser wallet (CIP-30) gives.
   *
   * @throws {TypeError} where the set is not hexadecimal.
   * @throws {CborError} where it is malformed, or has no signature of a key.
   */
  withWitnessSet(witnessSet: string): CheckedTransaction {
    return new CheckedTransaction(BY_CHECK, addWitnessSet(this.#cbor, witnessSet), this.intent, this.summary);
  }

  /**
   * The transaction with the key signatures of what another process signed, such as `sign` of the wallet service; nothing else
   * is taken from that.
   *
   * @throws {TypeError} where that is no transaction, or another one.
   */
  withSignaturesOf(signed: string): CheckedTransaction {
    if (transactionHash(fromHex(signed)) !== this.hash) throw new TypeError("another transaction was signed");
    return this.withWitnesses(...keyWitnesses(partsOf(fromHex(signed)).witnesses));
  }

  /** The transaction with some signatures. */
  withWitnesses(...witnesses: readonly KeyWitness[]): CheckedTransaction {
    const cbor = toHex(addWitness(fromHex(this.#cbor), ...witnesses));
    return new CheckedTransaction(BY_CHECK, cbor, this.intent, this.summary);
  }
}

/** What a check has besides the service's summary: `resolve` looks up spent outputs and is trusted more, `slots` gives times. */
export interface CheckSources {
  readonly resolve?: Resolve | undefined;
  readonly slots?: SlotConfig | undefined;
}

/**
 * Checks the answer of a build, as `checkSummary` does; gives the transaction for `signTransaction`.
 *
 * @throws what `resolve` throws.
 */
export async function checkTransaction(
  answer: { readonly unsignedTransaction: string; readonly summary: Summary },
  intent: Intent,
  sources: CheckSources = {},
): Promise<Result<CheckedTransaction, IntentRefusal | Failure<"malformed_answer">>> {
  try {
    const checked = await checkSummary(answer, intent, sources);
    if (!checked.ok) return checked;
    return ok(new CheckedTransaction(BY_CHECK, answer.unsignedTransaction, intent, checked.value));
  } catch (error) {
    // the summary does not have the expected members
    if (!(error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError)) throw error;
    return fail("malformed_answer", "The service's response is not the answer of a build.");
  }
}

/**
 * Checks a transaction without a summary, as `requireIntent` does: `resolve` is trusted and must know every output that it
 * spends.
 *
 * @throws what `resolve` throws.
 */
export async function checkBytes(
  transaction: string,
  intent: Intent,
  sources: CheckSources & { readonly resolve: Resolve },
): Promise<Result<CheckedTransaction, IntentRefusal>> {
  const checked = await requireIntent(transaction, intent, sources);
  return checked.ok ? ok(new CheckedTransaction(BY_CHECK, transaction, intent, checked.value)) : checked;
}

const witness = (key: SigningKey, hash: Uint8Array): KeyWitness => ({
  key: publicKey(key),
  signature: sign(key, hash),
});

/**
 * A checked transaction with signatures of some keys added; all other bytes stay the same.
 *
 * @throws {TypeError} where the transaction was not checked: a text is refused.
 */
export function signTransaction(transaction: CheckedTransaction, ...keys: readonly SigningKey[]): CheckedTransaction {
  if (!CheckedTransaction.is(transaction)) {
    throw new TypeError(
      "signTransaction takes what a build of TokenClient has as `checked`, or checkTransaction gives: it signs nothing unchecked",
    );
  }
  const hash = fromHex(transaction.hash);
  return transaction.withWitnesses(...keys.map((key) => witness(key, hash)));
}

/**
 * Bytes of a transaction (hexadecimal) with signatures of some keys added, whatever it does: for transactions that the
 * caller has built, or has checked by other means.
 *
 * @throws {TypeError} where the text is not hexadecimal.
 * @throws {CborError} where the bytes are no transaction.
 *
 * @example
 * ```ts
 * import { newSeed } from "./src/cardano/keys/signingKey.ts";
 * import { signUnchecked } from "./src/client/checkedTransaction.ts";
 *
 * const unsigned = "84a3008001800200a0f5f6"; // no inputs, no outputs, no fee
 * console.log(signUnchecked(unsigned, newSeed()).length - unsigned.length); // 212
 * ```
 */
export function signUnchecked(unsigned: string, ...keys: readonly SigningKey[]): string {
  const transaction = fromHex(unsigned);
  const hash = fromHex(transactionHash(transaction));
  return toHex(addWitness(transaction, ...keys.map((key) => witness(key, hash))));
}
