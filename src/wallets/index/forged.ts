/**
 * Forged addresses: addresses of others into which a random wallet's encrypted path was copied, and addresses with the
 * root of one of an icarus wallet's whose attributes are not those that the root hashes.
 *
 * Assumption: the paths of random wallets are hardened, so only the root key can show whose an address is. A command that has the root
 * key checks addresses and stores the forged ones here. From then on no build spends their outputs, which count in the
 * wallet's total as unspendable.
 */
import { refKey } from "#src/cardano/output.ts";
import { type Value, ValueSum } from "#src/cardano/value.ts";
import type { Fragment, Queries } from "#src/store/store.ts";
import { storedOutput } from "#src/wallets/index/stored.ts";

/** Stores that addresses (bytes in hexadecimal) are forged. */
export async function storeForged(sql: Queries, wallet: string, addresses: readonly string[]): Promise<void> {
  await sql`insert into wallet_forged (wallet, address)
    select ${wallet}, unnest(${sql.array([...addresses])}::text[]) on conflict do nothing`;
}

/** SQL that gives a row where one of the wallets has forged addresses. */
export function forgedQuery(sql: Queries, wallets: readonly string[]): Fragment {
  return sql`select 1 as forged from wallet_forged where wallet = any(${sql.array([...wallets])}::text[]) limit 1`;
}

/** Unspent outputs at forged addresses. */
interface ForgedOutputs {
  /** By `refKey`. */
  readonly refs: ReadonlySet<string>;
  readonly value: Value;
}

/** Unspent outputs at forged addresses, by wallet; wallets without any are missing. */
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

/** The outputs of a wallet without those at forged addresses. */
export async function withoutForged<T extends { readonly utxo: { readonly ref: Parameters<typeof refKey>[0] } }>(
  sql: Queries,
  wallet: string,
  outputs: readonly T[],
): Promise<T[]> {
  const forged = (await readForged(sql, [wallet])).get(wallet)?.refs;
  return outputs.filter(({ utxo }) => !forged?.has(refKey(utxo.ref)));
}
