/** What a devnet in the same process adds: its faucet, and the pages of its explorer. */
import { present } from "#src/base/present.ts";
import { call } from "#src/client/http.ts";
import { setting } from "../kit/setting.ts";
import { explorerAt } from "../kit/sites.ts";

/** Lovelace that the faucet gives at a time. */
export const GIFT = 1_000_000_000n;

/** Origin of the devnet, as the service wrote it into the document; undefined on other networks. */
export const devnet = (): string | undefined => setting("devnet");

/** Has the faucet pay an address. @throws {ApiError} */
export async function askFaucet(address: string): Promise<void> {
  await call(present(devnet(), "the devnet's origin"), "POST", "/faucet", { address, lovelace: GIFT });
}

/** Where the explorer shows a transaction; undefined where there is none. */
export const explorerTx = (hash: string): string | undefined => explorerAt(`/tx/${hash}`);
/** Where it shows an address. */
export const explorerAddress = (address: string): string | undefined => explorerAt(`/address/${address}`);
/** Where it shows an asset. */
export const explorerAsset = (asset: string): string | undefined => explorerAt(`/asset/${asset}`);
/** Where it shows a stake pool. */
export const explorerPool = (pool: string): string | undefined => explorerAt(`/pool/${pool}`);
