/**
 * Addresses of others with a path of a random wallet's copied into them.
 *
 * Hypotheses: the paths are hard ones, so that only the root key tells whose an address is; whoever has it for a moment looks, and what is
 * found out stands here. It is not the wallet's from then on: it holds nothing for it, and nothing is built upon it.
 */
import { refKey } from "#src/cardano/output.ts";
import { type Value, ValueSum } from "#src/cardano/value.ts";
import type { Queries } from "#src/store/store.ts";
import { storedOutput } from "#src/wallet/index/stored.ts";

/** Keeps that addresses (bytes in hexadecimal) are not a wallet's. */
export async function keepForged(sql: Queries, wallet: string, addresses: readonly string[]): Promise<void> {
  await sql`insert into wallet_forged (wallet, address)
    select ${wallet}, unnest(${sql.array([...addresses])}::text[]) on conflict do nothing`;
}

/** Unspent outputs at such addresses. */
export interface ForgedOutputs {
  /** By `refKey`. */
  readonly refs: ReadonlySet<string>;
  readonly value: Value;
}

/** Unspent outputs of wallets that are not theirs; wallets without any are missing. */
export async function readForged(
  sql: Queries,
  wallets: readonly string[],
): Promise<ReadonlyMap<string, ForgedOutputs>> {
  const forged = await sql<{ wallet: string; address: string }[]>`
    select wallet, address from wallet_forged where wallet = any(${sql.array([...wallets])})`;
  const found = new Map<string, { refs: Set<string>; value: ValueSum }>();
  if (forged.length === 0) return found;
  const known = new Set(forged.map(({ wallet, address }) => `${wallet} ${address}`));
  const concerned = [...new Set(forged.map(({ wallet }) => wallet))];
  const rows = await sql<{ wallet: string; ref: string; output: Uint8Array }[]>`
    select wallet, ref, output from wallet_utxo where wallet = any(${sql.array(concerned)}) and to_slot is null`;
  for (const { wallet, ref, output } of rows) {
    const { address, value } = storedOutput(output);
    if (!known.has(`${wallet} ${address}`)) continue;
    const one = found.get(wallet) ?? { refs: new Set(), value: new ValueSum() };
    one.refs.add(ref);
    one.value.add(value);
    found.set(wallet, one);
  }
  return found;
}

/** Those of some outputs of a wallet that are its own. */
export async function withoutForged<T extends { readonly utxo: { readonly ref: Parameters<typeof refKey>[0] } }>(
  sql: Queries,
  wallet: string,
  outputs: readonly T[],
): Promise<T[]> {
  const forged = (await readForged(sql, [wallet])).get(wallet)?.refs;
  return outputs.filter(({ utxo }) => !forged?.has(refKey(utxo.ref)));
}
