/**
 * The state of a transaction that no block holds, out of the index, the submissions of this instance and the network's
 * mempool.
 */
import { rolledBackFrom } from "#src/chain/index/rolledBack.ts";
import { type LossCause, readCauses, readDependents, signersOf } from "#src/chain/pending/lost.ts";
import { readSubmissionStatus, readSubmittedCbor } from "#src/chain/pending/submissions.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Queries } from "#src/store/store.ts";

/** The state of a transaction that no block holds. */
interface OutsideLedger {
  readonly status: "mempool" | "pending" | "rolled_back" | "expired" | "refused" | "unknown";
  /** Slot of the rolled back block that held it last. */
  readonly rolledBackFrom?: number;
  /** Of an expired or refused one: why the network refuses it before its last slot. */
  readonly causes?: readonly LossCause[];
  /** Of an expired or refused one: hashes of the keys that signed it. */
  readonly signers?: readonly string[];
  /** Of an expired or refused one: what cannot enter the ledger without it, parents first. */
  readonly dependents?: readonly { readonly txHash: string; readonly signers: readonly string[] }[];
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
  if (submitted === "expired" || (submitted === "refused" && rolledBack === undefined)) {
    const [causes, cbor, dependents] = await Promise.all([
      readCauses(sql, hash),
      readSubmittedCbor(sql, hash),
      readDependents(sql, hash),
    ]);
    return {
      status: submitted,
      ...from,
      ...(causes.length > 0 ? { causes } : {}),
      ...(cbor ? { signers: signersOf(cbor) } : {}),
      dependents: dependents.map(({ hash: txHash, signers }) => ({ txHash, signers })),
    };
  }
  if (rolledBack !== undefined) return { status: "rolled_back", ...from };
  return { status: submitted === "pending" ? "pending" : "unknown" };
}
