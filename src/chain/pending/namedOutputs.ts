/** Outputs by their references, as a build may spend them: of the ledger or of a pending transaction, and not spent by one. */
import { ok, type Result } from "#src/base/result.ts";
import { created, spent } from "#src/cardano/block.ts";
import { type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import type { At, ChainPort, Unreachable } from "#src/chain/provider/port.ts";
import { pendingHashes, readIncluded, readOverlay } from "#src/chain/pending/overlay.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import type { Queries, Store } from "#src/store/store.ts";

/** An output that can be spent, and whether it is one of a pending transaction. */
export interface SpendableOutput extends Utxo {
  readonly pending: boolean;
}

/** Reads those of some outputs that can be spent, in the order of the references; the point is that of the network's answer. */
export async function readNamedOutputs(
  store: Store,
  port: Pick<ChainPort, "utxosByRef">,
  refs: readonly OutRef[],
): Promise<Result<At<readonly SpendableOutput[]>, Unreachable>> {
  const keys = refs.map(refKey);
  const { value: pending } = await atPoint(store, async (sql) => {
    const makers = await readPendingMakers(sql, refs);
    const overlay = await readOverlay(sql, { refs: keys, own: makers, follows: () => false });
    const included = await readIncluded(sql, overlay.map(({ hash }) => hash));
    return overlay.filter(({ hash }) => !included.has(hash));
  });
  const gone = new Set(pending.flatMap(spent).map(refKey));
  // after the pending ones: what a block has included meanwhile is in this answer
  const answer = await port.utxosByRef(refs);
  if (!answer.ok) return answer;
  const found = new Map<string, SpendableOutput>([
    ...pending.flatMap(created).map((utxo) => [refKey(utxo.ref), { ...utxo, pending: true }] as const),
    ...answer.value.value.map((utxo) => [refKey(utxo.ref), { ...utxo, pending: false }] as const),
  ]);
  const value = keys.flatMap((key) => {
    const utxo = found.get(key);
    return utxo && !gone.has(key) ? [utxo] : [];
  });
  return ok({ point: answer.value.point, value });
}

/** The pending transactions that create some outputs. */
async function readPendingMakers(sql: Queries, refs: readonly OutRef[]) {
  const hashes = [...new Set(refs.map(({ txHash }) => txHash))];
  const rows = await sql<{ cbor: Uint8Array }[]>`
    select s.cbor from ${pendingHashes(sql)} p join submission s using (hash)
    where p.hash = any(${sql.array(hashes)}::text[])`;
  return rows.map(({ cbor }) => scanTransaction(new Uint8Array(cbor)));
}
