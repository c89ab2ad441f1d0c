/** Outputs by their references: from index rows, from submitted transactions, or from the network. */
import { inTime } from "#src/base/clock.ts";
import { created } from "#src/cardano/block.ts";
import { decode } from "#src/cardano/cbor.ts";
import { type Output, type OutRef, readOutput, refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Queries } from "#src/store/store.ts";

/** Reads outputs of watched addresses and of transactions submitted here; spent ones as long as their rows are kept. */
export async function readOutputs(sql: Queries, refs: readonly OutRef[]): Promise<Map<string, Output>> {
  const hashes = [...new Set(refs.map(({ txHash }) => txHash))];
  const [rows, submitted] = await Promise.all([
    sql<{ ref: string; output: Uint8Array }[]>`
      select ref, output from chain_utxo where ref = any(${sql.array(refs.map(refKey))}::text[])`,
    sql<{ cbor: Uint8Array }[]>`select cbor from submission where hash = any(${sql.array(hashes)}::text[])`,
  ]);
  const wanted = new Set(refs.map(refKey));
  const made = submitted.flatMap(({ cbor }) => created(scanTransaction(new Uint8Array(cbor))))
    .filter(({ ref }) => wanted.has(refKey(ref)));
  return new Map([
    ...made.map(({ ref, output }) => [refKey(ref), output] as const),
    ...rows.map(({ ref, output }) => [ref, readOutput(decode(new Uint8Array(output)))] as const),
  ]);
}

/** Queries the network for the unspent ones of some outputs. Empty if it does not answer within `ms` milliseconds. */
export async function queryOutputs(
  port: Pick<ChainPort, "utxosByRef">,
  refs: readonly OutRef[],
  ms: number,
): Promise<Map<string, Output>> {
  if (refs.length === 0) return new Map();
  const answer = await inTime(port.utxosByRef(refs), ms).catch(() => undefined);
  return new Map(answer?.ok ? answer.value.value.map(({ ref, output }) => [refKey(ref), output] as const) : []);
}
