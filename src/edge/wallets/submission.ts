/** Signed transactions on their way to the network, by a wallet or by nobody's. */
import { fromHex } from "#src/base/bytes.ts";
import type { Failure } from "#src/base/result.ts";
import type { Json, Messaged } from "#src/base/json.ts";
import { paymentKeyHash } from "#src/cardano/address.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { keyHash } from "#src/cardano/keys.ts";
import { transactionHash } from "#src/cardano/transaction.ts";
import { readCursor } from "#src/chain/index/cursor.ts";
import { HttpFailure } from "#src/edge/errors.ts";
import { submit } from "#src/edge/tokens/submit.ts";
import { type Desk, LONGEST_MS } from "#src/edge/wallets/context.ts";
import { refusal } from "#src/edge/wallets/status.ts";
import type { Queries } from "#src/store/store.ts";
import { ownersOf } from "#src/wallet/index/owners.ts";
import { signaturesOf } from "#src/wallet/build/witnesses.ts";
import type { DecodedTransaction } from "#src/wallet/build/types.ts";

/** The hash of what is a transaction; throws 400 for other bytes. */
export function hashOf(transaction: Uint8Array): string {
  try {
    return transactionHash(transaction);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    throw notATransaction(error.message);
  }
}

/** 403: the transaction spends what another one has spent since it was built. */
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

/** Submits a transaction, and has it listed by a wallet where it is one's; gives its hash. */
export async function submitFor(desk: Desk, transaction: Uint8Array, wallet?: string): Promise<string> {
  const hash = hashOf(transaction);
  const { at } = await readCursor(desk.store.sql);
  const by = wallet === undefined ? undefined : { wallet, slot: at.slot, height: at.height };
  const answer = await submit(desk.ask, transaction, LONGEST_MS, by);
  if (answer.ok) return hash;
  throw refused(answer.error);
}

/** What the actor or the network said no with, in the words of this service. */
function refused({ code, message, details }: Failure): Error {
  switch (code) {
    case "undecodable":
      return notATransaction(message);
    case "mempool_full":
      return new HttpFailure(425, "mempool_is_full", "The mempool is full: please try again later.");
    case "refused_by_ledger": {
      const why =
        `The submitted transaction was rejected by the local node. Here's an error message that may help with debugging: ${message}`;
      const isSpent = Array.isArray(details) && details.some((one) => (one as { name?: string }).name === SPENT);
      return isSpent
        ? new Conflict(why, details)
        : new HttpFailure(500, "created_invalid_transaction", why, details as Json);
    }
    default:
      return refusal({ code, message, details });
  }
}

/** How ledgers name it that inputs are not unspent. */
const SPENT = "BadInputsUTxO";

/**
 * Throws 403 for a transaction that is not the wallet's, or that lacks a signature of its own keys. One that the wallet has signed is its
 * own also where the index does not know what it spends, as after a rollback: the ledger judges it.
 */
export async function assertWhole(
  { store }: Pick<Desk, "store">,
  wallet: string,
  decoded: Messaged<DecodedTransaction>,
  transaction: Uint8Array,
  account: string | undefined,
): Promise<void> {
  const own = [...decoded.inputs, ...decoded.collateral].flatMap(({ own }) => own === undefined ? [] : [own.address]);
  const withdraws = decoded.withdrawals.some(({ path }) => path !== undefined);
  const { keys, bootstraps } = signaturesOf(transaction);
  const signed = new Set(keys.map((key) => keyHash(fromHex(key))));
  if (own.length === 0 && !withdraws && !(await hasKey(store.sql, wallet, [...signed]))) {
    throw refusal({
      code: "foreign_transaction",
      message:
        "The transaction spends nothing of this wallet's: submit one that has an input or a withdrawal of its own.",
    });
  }
  const certified = decoded.certificates.some((one) => one.type !== "other" && one.path !== undefined);
  const wanted = new Set(own.flatMap((address) => paymentKeyHash(address) ?? []));
  if (account !== undefined && (withdraws || certified)) wanted.add(account);
  const byron = new Set(own.filter((address) => address.startsWith("8"))).size;
  const missing = [...wanted].filter((hash) => !signed.has(hash)).length + Math.max(0, byron - bootstraps);
  if (missing === 0) return;
  const [expected, detected] = [wanted.size + byron, signed.size + bootstraps];
  throw new HttpFailure(
    403,
    "missing_witnesses_in_transaction",
    `The transaction expects ${expected} witness(es) of this wallet and there are ${detected}: sign it first.`,
    { expected_number_of_key_wits: expected, detected_number_of_key_wits: detected },
  );
}

/** Whether one of some keys is of an address of the wallet. */
async function hasKey(sql: Queries, wallet: string, hashes: readonly string[]): Promise<boolean> {
  const owners = await ownersOf(sql, hashes.map((hash) => `key-${hash}`));
  return [...owners.values()].some((found) => found.some((owner) => owner.wallet === wallet));
}
