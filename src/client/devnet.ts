/** The typed client of the devnet: faucet, blocks, epochs, rollbacks and snapshots. */
import type { z } from "zod";
import type * as api from "#src/devnet/api/devnet.ts";
import { call } from "#src/client/http.ts";

export type DevnetTip = z.output<typeof api.tip>;
export type DevnetSnapshot = z.output<typeof api.snapshot>;
export type DevnetNetwork = z.output<typeof api.network>;

/**
 * The devnet over HTTP.
 *
 * @throws {ApiError} by every method, where the devnet refuses or does not respond.
 *
 * @example
 * ```ts
 * import { DevnetClient } from "./src/client/devnet.ts";
 *
 * const client = new DevnetClient("http://127.0.0.1:10000");
 * console.log(await client.tip().catch((error) => error.code));
 * ```
 */
export class DevnetClient {
  /** `base` is the URL of the devnet, such as `http://127.0.0.1:10000`. */
  constructor(readonly base: string) {}

  /** The newest block and the network. */
  tip(): Promise<DevnetNetwork> {
    return call(this.base, "GET", "/tip");
  }

  /** Sends lovelace from the faucet to an address; gives the transaction's hash. */
  async fund(address: string, lovelace: bigint): Promise<string> {
    return (await call<{ txHash: string }>(this.base, "POST", "/faucet", { address, lovelace })).txHash;
  }

  /** Produces blocks now. */
  blocks(count = 1): Promise<{ readonly tip: DevnetTip; readonly made: number }> {
    return call(this.base, "POST", "/blocks", { count });
  }

  /**
   * Enters the next epochs now. `blocks` are made in the rest of each epoch that ends; rewards are in proportion to
   * them.
   */
  epochs(count = 1, blocks?: number): Promise<z.output<typeof api.epochsAnswer>> {
    return call(this.base, "POST", "/epochs", blocks === undefined ? { count } : { count, blocks });
  }

  /** Goes back to the genesis; gives the tip, which is before the first block. */
  async reset(): Promise<DevnetTip> {
    return (await call<{ tip: DevnetTip }>(this.base, "POST", "/reset")).tip;
  }

  /**
   * Rolls back a number of blocks, or every block after a slot. Their transactions return to the mempool, or are
   * discarded where `drop` is set.
   */
  async rollback(
    to: { readonly blocks: number } | { readonly slot: number },
    { drop = false }: { readonly drop?: boolean } = {},
  ): Promise<DevnetTip> {
    return (await call<{ tip: DevnetTip }>(this.base, "POST", "/rollback", { ...to, drop })).tip;
  }

  /** Saves the newest block and the mempool under a name. */
  saveSnapshot(name: string, { replace = false }: { readonly replace?: boolean } = {}): Promise<DevnetSnapshot> {
    return call(this.base, "POST", "/snapshots", { name, replace });
  }

  /** All snapshots, oldest first. */
  async snapshots(): Promise<readonly DevnetSnapshot[]> {
    return (await call<{ snapshots: DevnetSnapshot[] }>(this.base, "GET", "/snapshots")).snapshots;
  }

  /** Goes to the block of a snapshot and restores its mempool; followers see a rollback and the blocks after it. */
  async restoreSnapshot(name: string): Promise<DevnetTip> {
    const path = `/snapshots/${encodeURIComponent(name)}/restore`;
    return (await call<{ tip: DevnetTip }>(this.base, "POST", path)).tip;
  }

  /** Deletes a snapshot. */
  async deleteSnapshot(name: string): Promise<void> {
    await call(this.base, "DELETE", `/snapshots/${encodeURIComponent(name)}`);
  }
}
