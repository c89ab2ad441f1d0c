/** Requests of the token client for facts by pages, changes since a state, and histories. */
import type { z } from "zod";
import type * as api from "#src/tokens/api/tokenFacts.ts";
import { toHex } from "#src/base/bytes.ts";
import { keyBytes } from "#src/client/factKey.ts";
import { answer, ApiError, call, queryText } from "#src/client/http.ts";

export type FactsWithSlots = Record<string, { readonly value: string; readonly slot: number }>;
export type ChangedFacts = z.output<typeof api.changedFacts> & { readonly facts: Record<string, string> };
export type StatePoint = z.output<typeof api.statePoint>;
export type PastRequest = z.output<typeof api.pastRequest>;
export type OpenRequest = z.output<typeof api.openRequest>;
export type FactChange = z.output<typeof api.factChange>;
export type Config = z.output<typeof api.config>;

/** How a service writes keys and values. */
export interface FactEncoding {
  /** `text` by default: a lone surrogate U+DC80 to U+DCFF stands for each byte that is no UTF-8. */
  readonly encoding?: "text" | "hex";
}

/** A selection of facts. */
export interface FactsSelection extends FactEncoding {
  /** First bytes of the keys, or a text in this API's encoding. */
  readonly prefix?: string | Uint8Array;
  readonly limit?: number;
}

/** A selection of requests. */
export interface HistorySelection extends FactEncoding {
  readonly key?: string | Uint8Array;
  readonly status?: PastRequest["status"];
  /** Payment key hash. */
  readonly owner?: string;
  /** Most requests of one page. */
  readonly limit?: number;
}

/** A selection of open requests. */
export type OpenSelection = Pick<HistorySelection, "owner" | "limit" | "encoding">;

/** Facts that a client has cached, and their state. */
export interface CachedFacts {
  readonly facts: ReadonlyMap<string, string>;
  readonly at: StatePoint;
}

/** A parameter with bytes in the encoding of a query. */
function bytesQuery(name: string, key: string | Uint8Array | undefined, encoding: FactEncoding["encoding"]): string {
  if (key === undefined) return "";
  const digits = toHex(keyBytes(key));
  return `&${name}=${encoding === "hex" ? digits : digits.replace(/../g, "%$&")}`;
}

/** A query for facts, with its question mark. */
export function factsQuery({ prefix, limit, encoding }: FactsSelection): string {
  return queryText({ slots: false, limit, encoding }) + bytesQuery("prefix", prefix, encoding);
}

/** A query for a history, with its question mark. */
export function historyQuery({ key, status, owner, limit, encoding = "text" }: HistorySelection): string {
  return queryText({ status, owner, limit, encoding }) + bytesQuery("key", key, encoding);
}

/**
 * All pages from a path on, by their `Link` headers.
 *
 * @throws {ApiError} `rolled_back` where the state of the pages is no longer in the chain.
 */
export async function* pages<T>(base: string, path: string): AsyncGenerator<T, void> {
  for (let next: string | undefined = path; next !== undefined;) {
    const { json, headers }: Awaited<ReturnType<typeof answer<T>>> = await answer<T>(base, "GET", next);
    yield json;
    next = /<([^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
  }
}

/**
 * Current facts: the cached ones with what changed since, or all where none are cached or their state is no longer in
 * the chain.
 *
 * @throws {ApiError} where the service refuses.
 */
export async function refreshFacts(base: string, tokenId: string, cached?: CachedFacts): Promise<CachedFacts> {
  const readSince = async (since: string) =>
    await call<ChangedFacts>(base, "GET", `/token/${tokenId}/facts?slots=false&since=${since}`);
  const readAll = async () => {
    const { facts, at } = await readSince("-1");
    return { facts: new Map(Object.entries(facts)), at };
  };
  if (!cached) return await readAll();
  try {
    const { facts, deleted, at } = await readSince(cached.at.outputRefId);
    const now = new Map(cached.facts);
    for (const key of deleted) now.delete(key);
    for (const [key, value] of Object.entries(facts)) now.set(key, value);
    return { facts: now, at };
  } catch (error) {
    if (error instanceof ApiError && error.code === "rolled_back") return await readAll();
    throw error;
  }
}
