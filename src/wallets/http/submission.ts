/** Submission of signed transactions, for a wallet or for none. */
import type { Failure } from "#src/base/result.ts";
import type { Messaged } from "#src/base/json.ts";
import { as, CborError, decode } from "#src/cardano/cbor.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { transactionHash } from "#src/cardano/transaction.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { isSpent, submit } from "#src/chain/pending/submit.ts";
import { LONGEST_MS, type WalletService } from "#src/wallets/http/service.ts";
import { refusal } from "#src/wallets/http/status.ts";
import { countOwnSignatures } from "#src/wallets/builds/ownSignatures.ts";
import type { DecodedTransaction } from "#src/wallets/builds/types.ts";

/** The hash of a transaction; throws 400 for other bytes. */
export function hashOf(transaction: Uint8Array): string {
  try {
    return transactionHash(transaction);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    throw notATransaction(error.message);
  }
}

/** The result of work on a transaction from outside; throws 400 where its bytes turn out to be malformed. */
export async function readingParts<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    throw notATransaction(error.message);
  }
}

/** Throws 403 `unsupported_era` for a transaction in the form of the eras before Alonzo: body, witnesses, metadata. */
export function requireAlonzo(transaction: Uint8Array): void {
  if (!isOfThree(transaction)) return;
  throw refusal({
    code: "unsupported_era",
    message: "The submitted transaction is of an era before Alonzo, which the network does not accept any more.",
  });
}

function isOfThree(bytes: Uint8Array): boolean {
  try {
    scanTransaction(bytes);
    return as(decode(bytes), "array").value.length === 3;
  } catch (error) {
    if (error instanceof CborError) return false;
    throw error;
  }
}

/** 403: the transaction spends outputs that another one has spent since it was built. */
export class Conflict extends HttpFailure {
  constructor(why: string, details?: unknown) {
    super(403, "created_invalid_transaction", why, details);
  }
}

const notATransaction = (why: string) =>
  new HttpFailure(
    400,
    "bad_request",
    `Error in $.transaction: Deserialisation failure while decoding the transaction: ${why}`,
  );

/** Submits a transaction, which `wallet` lists as pending where it is given; gives its hash. */
export async function submitFor(service: WalletService, transaction: Uint8Array, wallet?: string): Promise<string> {
  const hash = hashOf(transaction);
  const { at } = await readCursor(service.store.sql);
  const by = wallet === undefined ? undefined : { wallet, slot: at.slot, height: at.height };
  const answer = await submit(service.ask, transaction, LONGEST_MS, by);
  if (answer.ok) return hash;
  throw submissionRefusal(answer.error);
}

/** The refusal of the actor or the network, with this service's codes and messages. */
export function submissionRefusal({ code, message, details }: Failure): Error {
  switch (code) {
    case "undecodable":
      return notATransaction(message);
    case "mempool_full":
      return new HttpFailure(
        425,
        "mempool_is_full",
        "The submitted transaction was rejected by the Cardano node because its mempool was full.",
      );
    case "refused_by_ledger": {
      const why =
        `The submitted transaction was rejected by the local node. Here's an error message that may help with debugging:\n${message}`;
      return isSpent(details)
        ? new Conflict(why, details)
        : refusal({ code: "created_invalid_transaction", message: why, details });
    }
    default:
      return refusal({ code, message, details });
  }
}

/**
 * Throws 403 for a transaction that is not the wallet's, that is of an era before Alonzo, or that lacks a signature of
 * the wallet's own keys.
 */
export async function requireOwnSignatures(
  { store }: Pick<WalletService, "store">,
  wallet: string,
  decoded: Messaged<DecodedTransaction>,
  transaction: Uint8Array,
  keys: Parameters<typeof countOwnSignatures>[4],
): Promise<void> {
  const counted = await readingParts(() => countOwnSignatures(store.sql, wallet, decoded, transaction, keys));
  const { own, missing, expected, detected } = counted;
  if (!own) throw foreignTransaction();
  requireAlonzo(transaction);
  if (missing > 0) throw missingWitnesses(expected, detected);
}

/** The refusal of a transaction without an input or a withdrawal of the wallet. */
export function foreignTransaction(): Error {
  return refusal({
    code: "foreign_transaction",
    message:
      "The transaction to be submitted is foreign to the current wallet and cannot be sent. Submit a transaction that has either " +
      "an input or a withdrawal belonging to the wallet.",
  });
}

/** The refusal of a transaction that lacks signatures of the wallet. */
export function missingWitnesses(expected: number, detected: number): Error {
  return refusal({
    code: "missing_witnesses_in_transaction",
    message: `The transaction expects ${expected} witness(es) to be fully-signed but ${detected} was provided. ` +
      "Please submit a fully-signed transaction.",
    details: { expected_number_of_key_wits: expected, detected_number_of_key_wits: detected },
  });
}
