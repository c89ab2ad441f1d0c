/**
 * The state of a transaction that no block holds, out of the index, the submissions of this instance and the network's
 * mempool.
 */
import { rolledBackFrom } from "#src/chain/index/rolledBack.ts";
import { type LossCause, readCauses } from "#src/chain/pending/lost.ts";
import { readSubmissionStatus } from "#src/chain/pending/submissions.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Queries } from "#src/store/store.ts";

/**
 * The state of a transaction that no block holds; `rolledBackFrom` is the slot of the rolled back block that held it
 * last.
 */
interface OutsideLedger {
  readonly [detail: string]: string | number | readonly { readonly [member in keyof LossCause]: string }[];
  readonly status: "mempool" | "pending" | "rolled_back" | "expired" | "unknown";
}

/** Reads that state by hash. The mempool counts as empty where the network is away. */
export async function readOutsideLedger(
  sql: Queries,
  port: Pick<ChainPort, "inMempool">,
  hash: string,
): Promise<OutsideLedger> {
  const [rolledBack, submitted, mempool] = await Promise.all([
    rolledBackFrom(sql, hash),
    readSubmissionStatus(sql, hash),
    port.inMempool(hash),
  ]);
  const from = rolledBack === undefined ? {} : { rolledBackFrom: rolledBack };
  if (mempool.ok && mempool.value) return { status: "mempool", ...from };
  if (submitted === "expired") {
    const causes = (await readCauses(sql, hash)).map(({ name, message }) => ({ name, message }));
    return { status: "expired", ...from, ...(causes.length > 0 ? { causes } : {}) };
  }
  if (rolledBack !== undefined) return { status: "rolled_back", ...from };
  return { status: submitted === "pending" ? "pending" : "unknown" };
}
