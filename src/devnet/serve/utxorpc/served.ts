/** What the handlers of requests work with, and the errors that they answer. */
import { Code, ConnectError } from "@connectrpc/connect";
import { sleep } from "#src/base/clock.ts";
import { fromHex, toHex } from "#src/base/bytes.ts";
import type { Log } from "#src/base/log.ts";
import type { Tip } from "#src/cardano/block.ts";
import { slotTime } from "#src/cardano/parameters.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import type { RecentBlocks } from "#src/devnet/serve/utxorpc/recentBlocks.ts";
import type { Form } from "#src/devnet/serve/utxorpc/messages/form.ts";
import type { MeasureRedeemers } from "#src/plutus/types.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";

/** The devnet that is served, and how. */
export interface Served {
  readonly devnet: Devnet;
  readonly store: Store;
  readonly bus: Pick<Bus, "subscribe">;
  readonly measure: MeasureRedeemers;
  readonly log: Log;
  readonly form: Form;
  /** Whether the devnet keeps the index of its chain. */
  readonly indexed: boolean;
  /** Milliseconds between reads of the chain without an announcement. */
  readonly pollMs: number;
  readonly recent: RecentBlocks;
}

/** Milliseconds between looks at the mempool. */
const LOOK_MS = 50;

/** Waits until the chain or the mempool may have changed since they had a number of changes. */
export async function untilChange({ devnet, pollMs }: Served, since: number, signal: AbortSignal): Promise<void> {
  for (let waited = 0; waited < pollMs && devnet.changes() === since && !signal.aborted; waited += LOOK_MS) {
    await sleep(LOOK_MS, signal);
  }
}

/** The request is malformed, or the ledger refuses what it asks for. */
export const invalid = (message: string) => new ConnectError(message, Code.InvalidArgument);
/** The chain does not have it. */
export const notFound = (message: string) => new ConnectError(message, Code.NotFound);
/** A later attempt may succeed. */
export const unavailable = (message: string) => new ConnectError(message, Code.Unavailable);
/** A limit is reached; a later attempt may succeed. */
export const exhausted = (message: string) => new ConnectError(message, Code.ResourceExhausted);

/** @throws {ConnectError} UNIMPLEMENTED where the devnet has no index of its chain, in which something is searched */
export function requireIndex({ indexed }: Served, what: string): void {
  if (!indexed) {
    throw new ConnectError(`${what} needs the index of the chain; this devnet is without it.`, Code.Unimplemented);
  }
}

/** Hexadecimal of bytes that must have a length. */
export function hexOf(bytes: Uint8Array, length: number, what: string): string {
  if (bytes.length !== length) throw invalid(`${what} must have ${length} bytes; it has ${bytes.length}.`);
  return toHex(bytes);
}

/** A block as `ChainPoint` and `BlockRef` name it: nothing before the first one. */
export function pointMessage({ devnet }: Pick<Served, "devnet">, { slot, hash, height }: Tip) {
  if (height < 0) return { slot: 0n, hash: new Uint8Array(), height: 0n };
  return {
    slot: BigInt(slot),
    hash: fromHex(hash),
    height: BigInt(height),
    timestamp: BigInt(timeOf({ devnet }, slot)),
  };
}

/** When a slot begins, in ms since 1970. */
export function timeOf({ devnet }: Pick<Served, "devnet">, slot: number): number {
  return slotTime(devnet.network.slots, slot);
}
