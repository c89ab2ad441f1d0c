/** The stake credentials that a wallet's outputs count for. */
import { type Credential, readAddressHex } from "#src/cardano/address.ts";
import { ownedCredential } from "#src/wallets/index/credential.ts";
import type { OwnUtxo } from "#src/wallets/index/types.ts";

/** Lovelace of outputs by stake credential (`ownedCredential`), and of those that count for none. */
interface StakeSums {
  readonly stakes: ReadonlyMap<string, { readonly credential: Credential; readonly sum: bigint }>;
  readonly none: bigint;
}

/** Sums the lovelace of outputs by the stake credential of their addresses. */
export function sumByStake(utxos: readonly OwnUtxo[]): StakeSums {
  const stakes = new Map<string, { credential: Credential; sum: bigint }>();
  let none = 0n;
  for (const { utxo: { output: { address: hex, value } } } of utxos) {
    const address = readAddressHex(hex);
    if (!address.ok || address.value.kind !== "base") {
      none += value.lovelace;
      continue;
    }
    const { stake } = address.value;
    const key = ownedCredential(stake);
    stakes.set(key, { credential: stake, sum: (stakes.get(key)?.sum ?? 0n) + value.lovelace });
  }
  return { stakes, none };
}
