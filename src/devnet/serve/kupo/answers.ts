/** The form of Kupo's answers: headers that say of which block they are, and 304 for a client that holds the newest. */
import type { Context } from "hono";
import { toJson } from "#src/base/json.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { genesisOutputs } from "#src/devnet/genesis/genesis.ts";
import type { KupoState } from "#src/devnet/index/kupo/points.ts";
import { genesisBlock } from "#src/devnet/serve/blockfrost/documents.ts";
import type { Reading } from "#src/devnet/serve/kupo/connections.ts";
import type { Store } from "#src/store/store.ts";

/** What the routes work with. */
export interface KupoParts {
  readonly devnet: Pick<Devnet, "network" | "genesis" | "slot">;
  readonly store: Pick<Store, "sql">;
  /** Runs the work of a large answer. */
  readonly reading: Reading;
  /** Hash that stands for the block of the genesis, and the hashes of its outputs. */
  readonly genesisHash: () => string;
  readonly genesisTransactions: () => readonly string[];
}

/** The members of `KupoParts` about a genesis; they are computed at their first use. */
export function genesisParts({ genesis }: KupoParts["devnet"]): Pick<KupoParts, "genesisHash" | "genesisTransactions"> {
  let transactions: readonly string[] | undefined;
  return {
    genesisHash: () => genesisBlock(genesis),
    genesisTransactions: () => transactions ??= [...new Set(genesisOutputs(genesis).map(({ ref }) => ref.txHash))],
  };
}

export const JSON_TYPE = "application/json;charset=utf-8";

/** Sets the headers that say of which block an answer is. */
export function nameBlock(c: Context, { checkpoint }: Pick<KupoState, "checkpoint">): void {
  c.header("X-Most-Recent-Checkpoint", String(checkpoint?.slot ?? 0));
  if (checkpoint) c.header("ETag", checkpoint.hash);
}

/** Whether the client holds the answer of the newest block. */
export function isHeld(c: Context, { checkpoint }: Pick<KupoState, "checkpoint">): boolean {
  const held = c.req.header("if-none-match")?.replace(/^W\//, "").replaceAll('"', "").trim();
  return checkpoint !== undefined && held === checkpoint.hash;
}

/** Answers with JSON, or with 304. `value` is called for the former. */
export async function answerAt(c: Context, state: KupoState, value: () => Promise<unknown>): Promise<Response> {
  nameBlock(c, state);
  return isHeld(c, state) ? c.body(null, 304) : json(c, await value());
}

/** An answer of 200, or another status, with JSON. */
export function json(c: Context, value: unknown, status: 200 | 202 | 503 = 200): Response {
  return c.body(toJson(value), status, { "content-type": JSON_TYPE });
}

/** Kupo's form of a point. */
export function pointJson({ slot, hash }: { readonly slot: number; readonly hash: string }) {
  return { slot_no: slot, header_hash: hash };
}
