// deno-lint-ignore-file no-unused-vars
/** The addresses of wallets. */
import type { Queries } from "#src/store/store.ts";
import type { OwnedCredential, Owner, WalletAddress } from "#src/wallet/index/types.ts";

export interface AddressQuery {
  readonly state?: "used" | "unused";
  readonly limit?: number;
  /** After the place that the page before gave. */
  readonly after?: AddressCursor;
}

export interface AddressCursor {
  readonly role: number;
  readonly index: number;
}

export interface AddressPage {
  readonly addresses: readonly WalletAddress[];
  /** Where the next page begins, where there is one. */
  readonly next?: AddressCursor;
}

/**
 * Addresses of a wallet as they are listed: those to receive at in the order of their indices, as far as the pool reaches, then those
 * for change that are used. Of a random wallet all that it made, imported or found.
 */
export function readAddresses(sql: Queries, wallet: string, query: AddressQuery): Promise<AddressPage> {
  throw new Error("not written");
}

/** The wallets that credentials belong to, as far as their pools reach (`credentialOf` gives an address's). */
export function ownersOf(
  sql: Queries,
  credentials: readonly OwnedCredential[],
): Promise<ReadonlyMap<OwnedCredential, readonly Owner[]>> {
  throw new Error("not written");
}

/** Keeps addresses that a random wallet made or imported (hardened indices, address in hexadecimal); gives those that it had not. */
export function keepRandomAddresses(
  sql: Queries,
  wallet: string,
  addresses: readonly { readonly account: number; readonly index: number; readonly address: string }[],
): Promise<readonly string[]> {
  throw new Error("not written");
}
