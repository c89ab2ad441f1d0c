/**
 * The typed client of the token service; runs in a browser. Keys never leave it: transactions are signed here.
 *
 * @example
 * ```ts
 * import type { SigningKey } from "./src/cardano/keys.ts";
 * import { signTransaction, TokenClient } from "./src/client/tokens.ts";
 *
 * export async function bootToken(service: string, address: string, key: SigningKey): Promise<string> {
 *   const client = new TokenClient(service);
 *   const { unsignedTransaction, value } = await client.boot(address);
 *   await client.submitAndWait(signTransaction(unsignedTransaction, key));
 *   return value;
 * }
 * ```
 */
import type { z } from "zod";
import { fromHex, toHex } from "#src/base/bytes.ts";
import type * as api from "#src/api/tokens.ts";
import { publicKey, sign, type SigningKey } from "#src/cardano/keys.ts";
import { addWitness, transactionHash } from "#src/cardano/transaction.ts";
import { factBody, factSegment } from "#src/client/factKey.ts";
import { ApiError, call, type Query, queryText } from "#src/client/http.ts";
import { dataOf, follow, type FollowOptions } from "#src/client/sse.ts";
import type { FactProof } from "#src/client/proofs.ts";
import { exactSummary, type Summary } from "#src/client/summary.ts";
import {
  type CachedFacts,
  type Config,
  type FactChange,
  type FactEncoding,
  factsQuery,
  type FactsSelection,
  type FactsWithSlots,
  historyQuery,
  type HistorySelection,
  type OpenRequest,
  type OpenSelection,
  pages,
  type PastRequest,
  refreshFacts,
} from "#src/client/tokenFacts.ts";

export type Token = z.output<typeof api.token>;
export type Tokens = z.output<typeof api.tokens>;
export type Facts = z.output<typeof api.facts>;
export type LedgerTransaction = z.output<typeof api.transaction>;
export type Unsigned = z.output<typeof api.unsigned>;
export type UnsignedBoot = z.output<typeof api.unsignedBoot>;
export type UnsignedRequest = z.output<typeof api.unsignedRequest>;
export type Rebuilt = z.output<typeof api.rebuilt>;
export type UpdateDryRun = z.output<typeof api.updateDryRun>;
export type UnsignedTransfer = z.output<typeof api.unsignedTransfer>;
export type UnsignedUpdate = z.output<typeof api.unsignedUpdate>;

/**
 * A transaction (CBOR in hexadecimal) with signatures of some keys added; all other bytes stay the same.
 *
 * @throws {TypeError} where the text is not hexadecimal.
 * @throws {CborError} where the bytes are no transaction.
 *
 * @example
 * ```ts
 * import { newSeed } from "./src/cardano/keys.ts";
 * import { signTransaction } from "./src/client/tokens.ts";
 *
 * const unsigned = "84a3008001800200a0f5f6"; // no inputs, no outputs, no fee
 * console.log(signTransaction(unsigned, newSeed()).length - unsigned.length); // 212
 * ```
 */
export function signTransaction(unsigned: string, ...keys: readonly SigningKey[]): string {
  const transaction = fromHex(unsigned);
  const hash = fromHex(transactionHash(transaction));
  return toHex(addWitness(
    transaction,
    ...keys.map((key) => ({ key: publicKey(key), signature: sign(key, hash) })),
  ));
}

/** Who pays for a transaction. */
export interface PayingOptions {
  /**
   * The id of the service's wallet that the address belongs to: it pays with all of its coins, and signs, by
   * `WalletClient.sign`. By default the address pays alone.
   */
  readonly wallet?: string;
}

/** How a request is built. */
export interface RequestOptions extends PayingOptions {
  /**
   * Refuses (`request_conflicts`) a request that conflicts with an open or pending one for its key. By default it is
   * built, with a warning.
   */
  readonly strict?: boolean;
}

/** What an update does besides applying requests. */
export interface UpdateOptions extends PayingOptions {
  /**
   * Requests (`<hash>-<index>`) that it refuses: each gets its whole deposit back, and its change is not made. For tokens
   * from version 3.0.0 of the contract on.
   */
  readonly refuse?: readonly string[];
  /** Whether no other request than the named ones is applied, also where none is named: the update then only refuses. */
  readonly onlyNamed?: boolean;
}

/** A token after a transition. */
export interface TokenNow {
  readonly tokenId: string;
  readonly status: "live" | "quarantined" | "ended" | "unknown";
  /** Why it is quarantined. */
  readonly reason?: string;
  readonly owner?: string;
  readonly root?: string;
  readonly outputRefId?: string;
}

/** An event of a token's stream: `opened`, or a transition (`updated`, `requested`, `rolled-back` …). */
export type TokenEvent =
  | { readonly type: "opened"; readonly id: string }
  | { readonly type: string; readonly id: string; readonly token: TokenNow };

/** Longest wait of one request, in milliseconds. */
const LONGEST_WAIT_MS = 60_000;

const updatePath = (
  address: string,
  tokenId: string,
  requests: readonly string[],
  { wallet, refuse = [], onlyNamed }: UpdateOptions,
  query: Query = {},
) => {
  const lists = [...requests.map((one) => `&request=${one}`), ...refuse.map((one) => `&refuse=${one}`)].join("");
  return `/transaction/${address}/update-token/${tokenId}${queryText({ wallet, onlyNamed, ...query }) || "?"}${lists}`;
};

/**
 * The token service over HTTP. Transactions come unsigned, as CBOR in hexadecimal; token ids, keys of owners and roots are
 * hexadecimal; amounts are lovelace; `address` is the requester's, who pays and signs.
 *
 * @throws {ApiError} by every method, where the service refuses or does not respond.
 *
 * @example
 * ```ts
 * import { TokenClient } from "./src/client/tokens.ts";
 *
 * const client = new TokenClient("http://127.0.0.1:3000");
 * const tokens = await client.tokens().catch((error) => error.code);
 * console.log(tokens);
 * ```
 */
export class TokenClient {
  /** `base` is the URL of the service, such as `http://127.0.0.1:3000`. */
  constructor(readonly base: string) {}

  /** Live tokens, the oldest first. */
  tokens(): Promise<Tokens> {
    return this.get("/tokens");
  }

  /** A token's state and its open requests, at most 1,000; `openRequests` gives all. */
  token(tokenId: string, { encoding }: FactEncoding = {}): Promise<Token> {
    return this.get(`/token/${tokenId}${queryText({ encoding })}`);
  }

  /** All facts of a token: values by key. */
  facts(tokenId: string, { encoding }: FactEncoding = {}): Promise<Facts> {
    return this.get(`/token/${tokenId}/facts${queryText({ slots: false, encoding })}`);
  }

  /** Facts, each with the slot of the block that set its value. */
  factsWithSlots(tokenId: string, { encoding }: FactEncoding = {}): Promise<FactsWithSlots> {
    return this.get(`/token/${tokenId}/facts${queryText({ slots: true, encoding })}`);
  }

  /**
   * Facts by key prefix, page by page; all pages are of one state.
   *
   * @throws {ApiError} `rolled_back` where that state is no longer in the chain.
   */
  factPages(tokenId: string, asked: FactsSelection = {}): AsyncGenerator<Facts, void> {
    return pages(this.base, `/token/${tokenId}/facts${factsQuery(asked)}`);
  }

  /**
   * Current facts from cached ones: the service sends only what changed since; all at first, and where the cached state
   * is no longer in the chain.
   */
  refresh(tokenId: string, held?: CachedFacts): Promise<CachedFacts> {
    return refreshFacts(this.base, tokenId, held);
  }

  /** Values of a key over time, the newest first; also after the token's end. */
  async *factHistory(tokenId: string, key: string | Uint8Array): AsyncGenerator<FactChange, void> {
    const { segment, query } = factSegment(key);
    const path = `/token/${tokenId}/facts/${segment}/history${query}`;
    for await (const page of pages<{ history: FactChange[] }>(this.base, path)) yield* page.history;
  }

  /** Requests with their outcome, the newest first; also after the token's end. */
  async *history(tokenId: string, asked: HistorySelection = {}): AsyncGenerator<PastRequest, void> {
    const path = `/token/${tokenId}/history${historyQuery(asked)}`;
    for await (const page of pages<{ requests: PastRequest[] }>(this.base, path)) yield* page.requests;
  }

  /** All open requests of a token, the oldest first, each with what would happen to it if they were applied now. */
  async *openRequests(
    tokenId: string,
    { owner, limit, encoding }: OpenSelection = {},
  ): AsyncGenerator<OpenRequest, void> {
    const path = `/token/${tokenId}/requests${queryText({ owner, limit, encoding })}`;
    for await (const page of pages<{ requests: OpenRequest[] }>(this.base, path)) yield* page.requests;
  }

  /** The contract and the network of the service. */
  config(): Promise<Config> {
    return this.get("/config");
  }

  /**
   * A fact or its absence with its proof, which `verifyFact` checks; `key` is bytes, or a text in this API's encoding.
   */
  fact(tokenId: string, key: string | Uint8Array): Promise<FactProof> {
    const { segment, query } = factSegment(key);
    return this.get(`/token/${tokenId}/facts/${segment}${query}`);
  }

  /** The transaction that creates a token; `value` is the token's id. */
  boot(address: string, { wallet }: PayingOptions = {}): Promise<UnsignedBoot> {
    return this.get(`/transaction/${address}/boot-token${queryText({ wallet })}`);
  }

  /** The transaction that requests a new fact. Keys and values are bytes, or texts in this API's encoding. */
  insert(
    address: string,
    tokenId: string,
    key: string | Uint8Array,
    newValue: string | Uint8Array,
    options: RequestOptions = {},
  ): Promise<UnsignedRequest> {
    return this.request(address, "insert", tokenId, { key, newValue }, options);
  }

  /** The transaction that requests another value of a fact. */
  update(
    address: string,
    tokenId: string,
    key: string | Uint8Array,
    oldValue: string | Uint8Array,
    newValue: string | Uint8Array,
    options: RequestOptions = {},
  ): Promise<UnsignedRequest> {
    return this.request(address, "update", tokenId, { key, oldValue, newValue }, options);
  }

  /** The transaction that requests the deletion of a fact. */
  delete(
    address: string,
    tokenId: string,
    key: string | Uint8Array,
    oldValue: string | Uint8Array,
    options: RequestOptions = {},
  ): Promise<UnsignedRequest> {
    return this.request(address, "delete", tokenId, { key, oldValue }, options);
  }

  /** The transaction that takes an open request (`<hash>-<index>`) back, with its deposit. */
  retract(address: string, request: string, { wallet }: PayingOptions = {}): Promise<Unsigned> {
    return this.get(`/transaction/${address}/retract-change/${request}${queryText({ wallet })}`);
  }

  /**
   * The transaction that applies requests (`<hash>-<index>`); without any, as many of the open ones as can be applied
   * and fit.
   */
  apply(
    address: string,
    tokenId: string,
    requests: readonly string[] = [],
    options: UpdateOptions = {},
  ): Promise<UnsignedUpdate> {
    return this.get(updatePath(address, tokenId, requests, options));
  }

  /** What `apply` would do, and what it would leave open; it reports on requests that cannot be applied as well. */
  tryApply(
    address: string,
    tokenId: string,
    requests: readonly string[] = [],
    options: UpdateOptions = {},
  ): Promise<UpdateDryRun> {
    return this.get(updatePath(address, tokenId, requests, options, { dryRun: true }));
  }

  /** The transaction that gives a token to another owner, whose address is `to`: both sign it. */
  transfer(
    address: string,
    tokenId: string,
    to: string,
    { wallet }: PayingOptions = {},
  ): Promise<UnsignedTransfer> {
    return this.get(`/transaction/${address}/transfer-token/${tokenId}${queryText({ to, wallet })}`);
  }

  /** The transaction that ends a token: it burns the token and returns what its state holds. */
  end(address: string, tokenId: string, { wallet }: PayingOptions = {}): Promise<Unsigned> {
    return this.get(`/transaction/${address}/end-token/${tokenId}${queryText({ wallet })}`);
  }

  /**
   * A transaction in place of one that was lost (refused after the network had taken it, or expired): the same action on
   * the newest state, for its owner to sign. An update applies those of its requests that are still open. `address` is
   * that of the lost transaction by default.
   *
   * @throws {ApiError} `transaction_not_lost` where it is in a block or pending.
   */
  rebuild(txHash: string, address?: string, { wallet }: PayingOptions = {}): Promise<Rebuilt> {
    return this.get(`/transaction/${txHash}/rebuild${queryText({ address, wallet })}`);
  }

  /**
   * The summary of any transaction, signed or not, from the side of an address where one is given. It is the service's
   * claim: check what you sign by `checkSummary` or `requireIntent`, which need no service.
   */
  async explain(transaction: string, address?: string): Promise<Summary> {
    return exactSummary(await this.post("/transaction/explain", { transaction, address }));
  }

  /** Submits a signed transaction; gives its hash. */
  async submit(signedTransaction: string): Promise<string> {
    const answer = await this.post<{ txHash: string }>("/transaction", { signedTransaction });
    return answer.txHash;
  }

  /**
   * A transaction of the ledger, or undefined while no block has it. With `waitMs` (60,000 at most) the answer waits
   * until a block has it, with `depth` blocks on top.
   */
  async transaction(
    txHash: string,
    { waitMs, depth }: { readonly waitMs?: number; readonly depth?: number } = {},
  ): Promise<LedgerTransaction | undefined> {
    try {
      return await this.get(`/transaction${queryText({ txHash, wait: waitMs, depth })}`);
    } catch (error) {
      if (error instanceof ApiError && error.code === "transaction_unknown") return undefined;
      throw error;
    }
  }

  /**
   * Submits and waits until a block has the transaction; gives its hash.
   *
   * @throws {ApiError} `wait_too_long` after `timeoutMs` milliseconds.
   */
  async submitAndWait(signedTransaction: string, timeoutMs = 120_000): Promise<string> {
    const hash = await this.submit(signedTransaction);
    const end = Date.now() + timeoutMs;
    for (let left = timeoutMs; left > 0; left = end - Date.now()) {
      if (await this.transaction(hash, { waitMs: Math.min(left, LONGEST_WAIT_MS) })) return hash;
    }
    throw new ApiError(0, "wait_too_long", `Transaction ${hash} is not on the ledger after ${timeoutMs} ms.`);
  }

  /**
   * Transitions of a token, until the signal aborts: the stream reconnects, and the server sends what was missed. Load
   * what you show once it is `opened`; to go on where another stream ended, give the `id` of its last event as `after`.
   *
   * @throws {ApiError} where the server refuses for good, and where it is unavailable on the first request.
   */
  async *events(tokenId: string, options: FollowOptions = {}): AsyncGenerator<TokenEvent, void> {
    for await (const one of follow(`${this.base.replace(/\/$/, "")}/token/${tokenId}/events`, options)) {
      if (one.type === "opened") yield one;
      else {
        const { event, id } = one.event;
        yield { type: event, id, token: dataOf(one) };
      }
    }
  }

  /** Waits until the index has read `n` more blocks; gives its height. */
  async waitBlocks(n: number): Promise<number> {
    return (await this.post<{ height: number }>("/indexer/wait-blocks", { n })).height;
  }

  private request(
    address: string,
    type: "insert" | "update" | "delete",
    tokenId: string,
    texts: Readonly<Record<string, string | Uint8Array>>,
    { strict, wallet }: RequestOptions,
  ): Promise<UnsignedRequest> {
    const { body, encoding } = factBody(texts);
    const query = queryText({ strict, wallet, encoding });
    return this.post(`/transaction/${address}/request-${type}/${tokenId}${query}`, body);
  }

  private async get<T>(path: string): Promise<T> {
    return exact(await call<T>(this.base, "GET", path));
  }

  private async post<T>(path: string, body: unknown): Promise<T> {
    return exact(await call<T>(this.base, "POST", path, body));
  }
}

/** An answer, with all amounts of its summary (where there is one) as `bigint`. */
function exact<T>(answer: T): T {
  if (typeof answer !== "object" || answer === null || !("summary" in answer)) return answer;
  return { ...answer, summary: exactSummary(answer.summary) };
}
