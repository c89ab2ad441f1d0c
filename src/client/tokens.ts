/**
 * The typed client of the token service; runs in a browser. Keys never leave it: transactions are signed here, and only
 * after the client has recomputed from their bytes that they do what the caller asked for, and nothing else.
 *
 * @example
 * ```ts
 * import type { SigningKey } from "./src/cardano/keys/signingKey.ts";
 * import { signTransaction, TokenClient } from "./src/client/tokens.ts";
 *
 * export async function bootToken(service: string, address: string, key: SigningKey): Promise<string> {
 *   const client = new TokenClient(service);
 *   const { checked, value } = await client.boot(address);
 *   await client.submitAndWait(signTransaction(checked, key));
 *   return value;
 * }
 * ```
 */
import type { z } from "zod";
import type * as api from "#src/tokens/api/tokens.ts";
import { messaged } from "#src/base/json.ts";
import { mapParallel } from "#src/base/parallel.ts";
import { bytesText } from "#src/contract/text.ts";
import { mostLocked } from "#src/client/amountLimits.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { CheckedTransaction, checkTransaction } from "#src/client/checkedTransaction.ts";
import { factBody, factSegment, keyBytes } from "#src/client/factKey.ts";
import { ApiError, call, type Query, queryText } from "#src/client/http.ts";
import { dataOf, follow, type FollowOptions } from "#src/client/sse.ts";
import type { FactProof } from "#src/client/proofs.ts";
import {
  exactSummary,
  firstOf,
  fromSummary,
  fromTransactions,
  type Intent,
  type Limits,
  type Resolve,
  summarize,
  type Summary,
} from "#src/client/summary.ts";
import { transactionHash } from "#src/client/witnesses.ts";
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

export { CheckedTransaction, signTransaction, signUnchecked } from "#src/client/checkedTransaction.ts";

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

/** A build's answer whose transaction was found here to do what was asked for: `signTransaction` takes `checked`. */
export type Checked<T extends Unsigned> = T & { readonly checked: CheckedTransaction };

/** Who pays for a transaction, and how much at most. */
export interface PayingOptions {
  /**
   * The id of the service's wallet that the address belongs to: it pays with all of its coins, and signs, by
   * `WalletClient.sign`. By default the address pays alone.
   */
  readonly wallet?: string;
  /**
   * With `wallet`: which of the wallet's other addresses a transaction (CBOR in hexadecimal) spends from or pays to, as the service with
   * its keys says: `WalletClient.ownAddresses`. Without it such a transaction is refused.
   */
  readonly own?: (transaction: string) => Promise<readonly string[]>;
  /** Limits on what the transaction may cost; by default those of `Limits`. */
  readonly limits?: Partial<Omit<Limits, "address" | "own">>;
  /** Looks up the outputs that the transaction spends, from another source than this service. */
  readonly resolve?: Resolve;
  /** How slots map to time, for the times in `checked.summary`. */
  readonly slots?: SlotConfig;
}

/** How a request is built. */
export interface RequestOptions extends PayingOptions {
  /**
   * Refuses (`request_conflicts`) a request that conflicts with an open or pending one for its key. By default it is
   * built, with a warning.
   */
  readonly strict?: boolean;
  /**
   * Gives the transaction of a request that could not be applied after those that are open and pending (`warnings` says
   * why). By default the build throws, before a deposit is locked.
   */
  readonly force?: boolean;
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
 * The token service over HTTP. Token ids, keys of owners and roots are hexadecimal; amounts are lovelace; `address` is the
 * requester's, who pays and signs. Builds recompute what their transaction does from its bytes, and give it as `checked`
 * for `signTransaction`; `unsignedTransaction` is its CBOR in hexadecimal.
 *
 * @throws {ApiError} by every method, where the service refuses or does not respond; by builds `not_as_intended` (with
 * every reason in the details), `summary_differs`, `malformed_answer` or `undecodable`, where the transaction is not what
 * was asked for.
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
  boot(address: string, paying: PayingOptions = {}): Promise<Checked<UnsignedBoot>> {
    const path = `/transaction/${address}/boot-token${queryText({ wallet: paying.wallet })}`;
    return this.checked(this.get<UnsignedBoot>(path), paying, ({ value }) => ({ type: "boot", token: value, address }));
  }

  /**
   * The transaction that requests a new fact. Keys and values are bytes, or texts in this API's encoding.
   *
   * @throws {ApiError} `fact_exists`, `fact_missing` or `fact_differs` where the request could not be applied, unless `force`
   * is set.
   */
  insert(
    address: string,
    tokenId: string,
    key: string | Uint8Array,
    newValue: string | Uint8Array,
    options: RequestOptions = {},
  ): Promise<Checked<UnsignedRequest>> {
    return this.request(address, tokenId, { type: "insert", key, newValue }, options);
  }

  /** The transaction that requests another value of a fact. @throws {ApiError} as `insert` */
  update(
    address: string,
    tokenId: string,
    key: string | Uint8Array,
    oldValue: string | Uint8Array,
    newValue: string | Uint8Array,
    options: RequestOptions = {},
  ): Promise<Checked<UnsignedRequest>> {
    return this.request(address, tokenId, { type: "update", key, oldValue, newValue }, options);
  }

  /** The transaction that requests the deletion of a fact. @throws {ApiError} as `insert` */
  delete(
    address: string,
    tokenId: string,
    key: string | Uint8Array,
    oldValue: string | Uint8Array,
    options: RequestOptions = {},
  ): Promise<Checked<UnsignedRequest>> {
    return this.request(address, tokenId, { type: "delete", key, oldValue }, options);
  }

  /** The transaction that takes an open request (`<hash>-<index>`) back, with its deposit. */
  retract(address: string, request: string, paying: PayingOptions = {}): Promise<Checked<Unsigned>> {
    const path = `/transaction/${address}/retract-change/${request}${queryText({ wallet: paying.wallet })}`;
    return this.checked(this.get<Unsigned>(path), paying, () => ({ type: "retract", request, address }));
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
  ): Promise<Checked<UnsignedUpdate>> {
    const { refuse = [], onlyNamed = false } = options;
    const built = this.get<UnsignedUpdate>(updatePath(address, tokenId, requests, options));
    return this.checked(built, options, ({ applied, mpfRoot }) => ({
      type: "apply",
      token: tokenId,
      requests: requests.length > 0 || onlyNamed ? requests : applied,
      refuse,
      root: mpfRoot,
      address,
    }));
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
    paying: PayingOptions = {},
  ): Promise<Checked<UnsignedTransfer>> {
    const path = `/transaction/${address}/transfer-token/${tokenId}${queryText({ to, wallet: paying.wallet })}`;
    return this.checked(
      this.get<UnsignedTransfer>(path),
      paying,
      () => ({ type: "transfer", token: tokenId, to, address }),
    );
  }

  /** The transaction that ends a token: it burns the token and returns what its state holds. */
  end(address: string, tokenId: string, paying: PayingOptions = {}): Promise<Checked<Unsigned>> {
    const path = `/transaction/${address}/end-token/${tokenId}${queryText({ wallet: paying.wallet })}`;
    return this.checked(this.get<Unsigned>(path), paying, () => ({ type: "end", token: tokenId, address }));
  }

  /**
   * A transaction in place of one that was lost (refused after the network had taken it, or expired): the same action on
   * the newest state, for its owner to sign. An update applies those of its requests that are still open. What the lost
   * one did is read from its bytes, which must have the hash. `address` may be left out where it made a request.
   *
   * @throws {ApiError} `transaction_not_lost` where it is in a block or pending; `not_rebuildable` where its bytes do not
   * say what to do, or for which address.
   */
  async rebuild(txHash: string, address?: string, paying: PayingOptions = {}): Promise<Checked<Rebuilt>> {
    const query = queryText({ address, wallet: paying.wallet });
    const built = await this.get<Rebuilt>(`/transaction/${txHash}/rebuild${query}`);
    const lost = await this.lost(txHash);
    const intent = lost && intentAgain(lost, built, address);
    if (intent) return await this.checked(Promise.resolve(built), paying, () => intent);
    throw new ApiError(0, "not_rebuildable", `What the transaction ${txHash} does is not known here.`);
  }

  /** The summary of a lost transaction, from bytes that have its hash. */
  private async lost(txHash: string): Promise<Summary | undefined> {
    const cbor = await this.transactionCbor(txHash);
    if (cbor === undefined) return undefined;
    const claimed = fromSummary(await this.explain(cbor));
    const summary = await summarize(cbor, { resolve: claimed });
    return summary.ok ? summary.value : undefined;
  }

  /**
   * The summary of any transaction, signed or not, from the side of an address where one is given. It is the service's
   * claim: check what you sign by `checkSummary` or `requireIntent`, which need no service.
   */
  async explain(transaction: string, address?: string): Promise<Summary> {
    return exactSummary(await this.post("/transaction/explain", { transaction, address }));
  }

  /**
   * Submits a signed transaction, also one in hexadecimal that was signed elsewhere; gives its hash.
   *
   * @throws {ApiError} `wrong_hash` where the service answers with the hash of another one.
   */
  async submit(signed: string | CheckedTransaction): Promise<string> {
    const signedTransaction = CheckedTransaction.is(signed) ? signed.cbor : signed;
    const { txHash } = await this.post<{ txHash: string }>("/transaction", { signedTransaction });
    if (txHash === transactionHash(signedTransaction)) return txHash;
    throw new ApiError(0, "wrong_hash", "The service answers with the hash of another transaction.");
  }

  /**
   * CBOR (hexadecimal) of a transaction that this service still has, pending or not; undefined where it has none. The bytes
   * have the hash: they need no trust.
   */
  async transactionCbor(txHash: string): Promise<string | undefined> {
    try {
      const { cbor } = await this.get<{ cbor: string }>(`/transaction/${txHash}/cbor`);
      if (transactionHash(cbor) === txHash) return cbor;
    } catch (error) {
      if (error instanceof ApiError && error.code === "transaction_unknown") return undefined;
      throw error;
    }
    throw new ApiError(0, "wrong_hash", `The service answers with other bytes than those of ${txHash}.`);
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
   * @throws {TypeError} where the transaction was not checked: a text is refused.
   */
  async submitAndWait(signed: CheckedTransaction, timeoutMs = 120_000): Promise<string> {
    if (!CheckedTransaction.is(signed)) throw new TypeError("submitAndWait takes what signTransaction gives");
    const hash = await this.submit(signed);
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

  private async request(
    address: string,
    tokenId: string,
    change: RequestedChange,
    options: RequestOptions,
  ): Promise<Checked<UnsignedRequest>> {
    const { type, ...texts } = change;
    const { strict, wallet, force = false } = options;
    const { body, encoding } = factBody(texts);
    const query = queryText({ strict, wallet, encoding });
    const built = this.post<UnsignedRequest>(`/transaction/${address}/request-${type}/${tokenId}${query}`, body);
    const checked = await this.checked(built, options, () => requestIntent(change, tokenId, address));
    const failure = checked.warnings.find(({ code }) => EXPECTED_FAILURES.has(code));
    if (failure === undefined || force) return checked;
    throw new ApiError(409, failure.code, `The request could not be applied: ${failure.message}`, messaged(failure));
  }

  /** A build's answer with its transaction checked against the intent. */
  private async checked<T extends Unsigned>(
    build: Promise<T>,
    { own, limits, resolve, slots }: PayingOptions,
    intentOf: (built: T) => Intent,
  ): Promise<Checked<T>> {
    const built = await build;
    const intent = { ...intentOf(built), ...limits, ...(own ? { own: await own(built.unsignedTransaction) } : {}) };
    const checked = await checkTransaction(built, intent, {
      resolve: firstOf(...resolve ? [resolve] : [], fromTransactions(await this.creators(coinsOf(built)))),
      slots,
    });
    if (checked.ok) return { ...built, checked: checked.value };
    const { code, message, details } = checked.error;
    throw new ApiError(0, code, message, messaged(details));
  }

  /** CBOR of the transactions that made some outputs (`<hash>-<index>`), as far as the service has them; 100 at most. */
  async creators(outputs: readonly string[]): Promise<string[]> {
    const hashes = [...new Set(outputs.map((ref) => ref.slice(0, 64)))].slice(0, MOST_CREATORS);
    const found = await mapParallel(hashes, PARALLEL, (hash) => this.transactionCbor(hash).catch(() => undefined));
    return found.flatMap((cbor) => cbor ?? []);
  }

  private async get<T>(path: string): Promise<T> {
    return exact(await call<T>(this.base, "GET", path));
  }

  private async post<T>(path: string, body: unknown): Promise<T> {
    return exact(await call<T>(this.base, "POST", path, body));
  }
}

/** A change that a request asks for; keys and values are bytes, or texts in this API's encoding. */
interface RequestedChange {
  readonly type: "insert" | "update" | "delete";
  readonly key: string | Uint8Array;
  readonly oldValue?: string | Uint8Array;
  readonly newValue?: string | Uint8Array;
}

/** The intent of a request, its keys and values as a summary writes them. */
function requestIntent(
  { type, key, oldValue = "", newValue = "" }: RequestedChange,
  token: string,
  address: string,
): Intent {
  const texts = [key, oldValue, newValue].map(keyBytes);
  const [keyText = "", before = "", after = ""] = texts.map(bytesText);
  const common = { token, address, key: keyText, maxLocked: mostLocked(...texts) };
  switch (type) {
    case "insert":
      return { type, ...common, newValue: after };
    case "update":
      return { type, ...common, oldValue: before, newValue: after };
    case "delete":
      return { type, ...common, oldValue: before };
  }
}

/** The intent of building a lost transaction again, from what its bytes say; undefined where they do not say it. */
function intentAgain(lost: Summary, built: Rebuilt, given: string | undefined): Intent | undefined {
  const { tokens: [token, ...more], requests: [request, ...others], retracts: [retract, ...rest] } = lost;
  if (more.length + others.length + rest.length > 0) return undefined;
  // not what the service says: the one whose address it is would get the change
  const address = given ?? request?.refundAddress;
  if (address === undefined) return undefined;
  if (request && !token && !retract) {
    const { tokenId, change: { type, key, oldValue, newValue } } = request;
    return requestIntent({ type, key, oldValue: oldValue ?? "", newValue: newValue ?? "" }, tokenId, address);
  }
  if (retract && !token) return { type: "retract", request: retract.outputRef, address };
  if (!token || retract) return undefined;
  if (token.booted) return { type: "boot", address };
  if (token.ended) return { type: "end", token: token.tokenId, address };
  const refs = (some: Summary["tokens"][number]["applies"] = []) => some.map(({ outputRef }) => outputRef);
  const [applies, refuses] = [refs(token.applies), refs(token.refuses)];
  if (applies.length + refuses.length > 0) {
    const { applied = [], refused = [], mpfRoot: root } = built;
    const stays = applied.every((one) => applies.includes(one)) && refused.every((one) => refuses.includes(one));
    return stays
      ? { type: "apply", token: token.tokenId, requests: applied, refuse: refused, root, address }
      : undefined;
  }
  const { after } = token.owner;
  return after === null ? undefined : { type: "transfer", token: token.tokenId, to: after, address };
}

/** Codes of warnings that say that a request could not be applied. */
const EXPECTED_FAILURES: ReadonlySet<string> = new Set(["fact_exists", "fact_missing", "fact_differs"]);
/** Most transactions that a build looks up to know what the requester's coins hold. */
const MOST_CREATORS = 100;

/** Look-ups at the same time. */
const PARALLEL = 4;

/** What a transaction spends beside outputs of the contract, or puts up as collateral, by references in its bytes. */
function coinsOf({ summary }: Unsigned): string[] {
  const inputs = [summary?.spends, summary?.collateral?.inputs].flatMap((some) => Array.isArray(some) ? some : []);
  return inputs.flatMap((one) => typeof one?.outputRef === "string" && !one.output?.holds ? [one.outputRef] : []);
}

/** An answer, with all amounts of its summary (where there is one) as `bigint`. */
function exact<T>(answer: T): T {
  if (typeof answer !== "object" || answer === null || !("summary" in answer)) return answer;
  return { ...answer, summary: exactSummary(answer.summary) };
}
