/** The mempool behind an Ogmios server, and submission to it. Functions throw `OgmiosError`. */
import { toHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { type MempoolTransaction, mempoolTransaction } from "#src/cardano/mempoolTransaction.ts";
import { type MempoolRead, MempoolReader } from "#src/chain/provider/mempool.ts";
import type { OgmiosConnection } from "#src/chain/provider/ogmios/connection.ts";
import { OgmiosError, ogmiosError, ServerError } from "#src/chain/provider/ogmios/errors.ts";
import { hexOf, isGiven, objectOf, OgmiosFormError } from "#src/ogmios/form.ts";
import { readTransaction } from "#src/ogmios/readTransaction.ts";

/** Whether the acquired snapshot holds a transaction. */
export async function holds(connection: OgmiosConnection, id: string): Promise<boolean> {
  const answer = await connection.request("hasTransaction", { id });
  if (typeof answer === "boolean") return answer;
  throw ogmiosError("unusable", `${connection.where} did not say whether its mempool has a transaction.`);
}

/** Reads the whole acquired snapshot: its transactions come one by one, whether the caller knows them or not. */
export async function readSnapshot(connection: OgmiosConnection, known: ReadonlySet<string>): Promise<MempoolRead> {
  const reader = new MempoolReader(known);
  for (;;) {
    const { transaction } = objectOf(await connection.request("nextTransaction", { fields: "all" }), "the answer");
    if (!isGiven(transaction)) return reader.result();
    const hash = hexOf(objectOf(transaction, "the transaction").id, "the transaction's id", 32);
    if (!reader.add(hash)) return reader.result();
    await reader.readBy(hash, () => readPending(transaction));
  }
}

/** A transaction of the mempool; undefined for one that this release cannot read. */
function readPending(json: Json): MempoolTransaction | undefined {
  try {
    return mempoolTransaction(readTransaction(json));
  } catch (error) {
    if (error instanceof CborError || error instanceof OgmiosFormError) return undefined;
    throw error;
  }
}

/** Codes of refusals: those of the ledger's rules and of the mempool, and bytes that are no transaction. */
const isRefusal = (code: number) => (code >= 3000 && code < 4000) || code === -32_602;

/** Submits a transaction with this hash; the server's error if it is refused. */
export async function submit(
  connection: OgmiosConnection,
  transaction: Uint8Array,
  hash: string,
): Promise<"accepted" | ServerError> {
  let answer: Json;
  try {
    answer = await connection.request("submitTransaction", { transaction: { cbor: toHex(transaction) } });
  } catch (error) {
    if (error instanceof ServerError && isRefusal(error.number)) return error;
    throw error;
  }
  const { id } = objectOf(objectOf(answer, "the answer").transaction, "the transaction");
  if (id === hash) return "accepted";
  throw new OgmiosError({
    code: "unusable",
    message: `${connection.where} returned another hash for the submitted transaction ${hash}.`,
  });
}
