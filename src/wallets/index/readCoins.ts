/** Reads outputs of a wallet by reference, spent or not. */
import { created, type ScannedTransaction } from "#src/cardano/block.ts";
import { parseRefKey, refKey } from "#src/cardano/output.ts";
import type { Queries } from "#src/store/store.ts";
import { withoutForged } from "#src/wallets/index/forged.ts";
import { pathOf, readClaims, readFacts } from "#src/wallets/index/owners.ts";
import { storedOutput } from "#src/wallets/index/stored.ts";
import type { OwnUtxo } from "#src/wallets/index/types.ts";

/** The wallet's own among outputs (`refKey`): unspent, spent, or in a pending transaction. */
export async function readCoins(
  sql: Queries,
  wallet: string,
  refs: readonly string[],
  pending: readonly ScannedTransaction[] = [],
): Promise<readonly OwnUtxo[]> {
  const facts = await readFacts(sql, [wallet]);
  const own = facts.get(wallet);
  if (!own || refs.length === 0) return [];
  const rows = await sql<{ ref: string; role: bigint; index: bigint; output: Uint8Array }[]>`
    select u.* from unnest(${sql.array([...new Set(refs)])}::text[]) r(ref) cross join lateral (
      select ref, role, index, output from wallet_utxo where wallet = ${wallet} and ref = r.ref limit 1) u`;
  const found = new Map<string, OwnUtxo>(rows.map(({ ref, role, index, output }) => [ref, {
    utxo: { ref: parseRefKey(ref), output: storedOutput(output) },
    path: pathOf(own, role, index),
  }]));
  const pendingOutputs = pending.flatMap(created).filter(({ ref }) =>
    refs.includes(refKey(ref)) && !found.has(refKey(ref))
  );
  const claims = (await readClaims(sql, facts, pendingOutputs.map(({ output }) => output.address), "stock")).get(
    wallet,
  );
  for (const utxo of pendingOutputs) {
    const path = claims?.get(utxo.output.address);
    if (path) found.set(refKey(utxo.ref), { utxo, path });
  }
  return await withoutForged(sql, wallet, [...found.values()]);
}
