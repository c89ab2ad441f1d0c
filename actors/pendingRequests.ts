/** Requests that no block has yet, from the bytes of pending transactions. */
import { equalBytes, toHex } from "#src/base/bytes.ts";
import { requestsIn } from "#src/cage/index/projection.ts";
import type { OpenChange } from "#src/cage/index/warnings.ts";
import { cageScripts } from "#src/cage/script.ts";
import { spent } from "#src/cardano/block.ts";
import { refKey } from "#src/cardano/output.ts";
import { readPendingContaining } from "#src/chain/pending/spendable.ts";
import type { Queries } from "#src/store/store.ts";

const scripts = new Set(cageScripts.map(({ hash }) => hash));

/** Plutus data has longer byte strings in pieces of this size. */
const PIECE = 64;

/** Requests for a key of a token that pending transactions make and no pending one spends; of 20 transactions at most. */
export async function readPendingRequests(sql: Queries, token: string, key: Uint8Array): Promise<OpenChange[]> {
  const transactions = await readPendingContaining(sql, token, toHex(key.subarray(0, PIECE)));
  const gone = new Set(transactions.flatMap(spent).map(refKey));
  return transactions.flatMap((transaction) => [...requestsIn(transaction, scripts)]).flatMap(({ ref, request }) => {
    const isFor = request.name === token && equalBytes(request.key, key) && !gone.has(refKey(ref));
    return isFor ? [{ ref: refKey(ref), operation: request.operation }] : [];
  });
}
