/** What the token service says, without builds: the reading half of its client. */
import { mapParallel } from "#src/base/parallel.ts";
import { factSegment } from "#src/client/factKey.ts";
import { ApiError, call, queryText, readText } from "#src/client/http.ts";
import type { KeyHistoryPage } from "#src/client/keyHistory.ts";
import type { FactProof } from "#src/client/proofs.ts";
import { dataOf, follow, type FollowOptions } from "#src/client/sse.ts";
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
import type {
  Facts,
  LedgerTransaction,
  ProvedFacts,
  ProvedRequests,
  ProvedToken,
  ProvedTokens,
  Token,
  TokenEvent,
  Tokens,
} from "#src/client/tokenTypes.ts";
import { transactionHash } from "#src/client/witnesses.ts";

/** The requests of `TokenClient` that only read. */
export class TokenReads {
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

  /**
   * All pages of the proven history of a key over a span of the token's states, which `verifyKeyHistory` checks: as far as the log
   * has them; also after the token's end.
   */
  async provedHistory(
    tokenId: string,
    key: string | Uint8Array,
    { from, to }: { readonly from?: number; readonly to?: number } = {},
  ): Promise<KeyHistoryPage[]> {
    const { segment, query } = factSegment(key);
    const asked = queryText({ proof: true, limit: PAGE, from, to });
    const path = `/token/${tokenId}/facts/${segment}/history${query === "" ? asked : query + asked.replace("?", "&")}`;
    const found: KeyHistoryPage[] = [];
    for await (const page of pages<KeyHistoryPage>(this.base, path)) found.push(page);
    return found;
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

  /** The list of tokens with its proof, which `verifyTokenList` checks. */
  provedTokens(): Promise<ProvedTokens> {
    return this.get("/tokens?proof=true");
  }

  /** The state of a token with its proof, which `verifyTokenState` checks. */
  provedToken(tokenId: string): Promise<ProvedToken> {
    return this.get(`/token/${tokenId}?proof=true`);
  }

  /** The open requests of a token with their proof, which `verifyRequestSet` checks. */
  provedRequests(tokenId: string): Promise<ProvedRequests> {
    return this.get(`/token/${tokenId}/requests?proof=true`);
  }

  /** All facts of a token with their proof, which `verifyTokenFacts` checks. */
  provedFacts(tokenId: string): Promise<ProvedFacts> {
    return this.get(`/token/${tokenId}/facts?proof=true`);
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

  /**
   * The tlog-proof of a state (`<hash>-<index>`), or of the newest entry of a token; undefined while the log has it not: a
   * state enters some blocks after its own.
   */
  async stateProof(tokenId: string, outputRefId?: string): Promise<string | undefined> {
    try {
      return await readText(this.base, `/token/${tokenId}/state.tlog-proof${queryText({ outputRefId })}`);
    } catch (error) {
      if (error instanceof ApiError && error.code === "not_logged") return undefined;
      throw error;
    }
  }

  /**
   * The summary of any transaction, signed or not, from the side of an address where one is given. It is the service's
   * claim: check what you sign by `checkSummary` or `requireIntent`, which need no service.
   */
  async explain(transaction: string, address?: string): Promise<Summary> {
    return exactSummary(await this.post("/transaction/explain", { transaction, address }));
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
   * Transitions of a token, until the signal aborts: the stream reconnects, and the server sends what was missed. Load
   * what you show once it is `opened`; to go on where another stream ended, give the `id` of its last event as `after`.
   *
   * @throws {ApiError} where the server refuses for good, and where it is unavailable on the first request.
   */
  async *events(tokenId: string, options: FollowOptions = {}): AsyncGenerator<TokenEvent, void> {
    for await (const one of follow(`${this.base.replace(/\/$/, "")}/token/${tokenId}/events`, options)) {
      if (one.type === "opened") yield one;
      // what is loaded once the stream is opened again is the restored state
      else if (one.type === "event") {
        const { event, id } = one.event;
        yield { type: event, id, token: dataOf(one) };
      }
    }
  }

  /** Waits until the index has read `n` more blocks; gives its height. */
  async waitBlocks(n: number): Promise<number> {
    return (await this.post<{ height: number }>("/indexer/wait-blocks", { n })).height;
  }

  /** CBOR of the transactions that made some outputs (`<hash>-<index>`), as far as the service has them; 100 at most. */
  async creators(outputs: readonly string[]): Promise<string[]> {
    const hashes = [...new Set(outputs.map((ref) => ref.slice(0, 64)))].slice(0, MOST_CREATORS);
    const found = await mapParallel(hashes, PARALLEL, (hash) => this.transactionCbor(hash).catch(() => undefined));
    return found.flatMap((cbor) => cbor ?? []);
  }

  protected async get<T>(path: string): Promise<T> {
    return exact(await call<T>(this.base, "GET", path));
  }

  protected async post<T>(path: string, body: unknown): Promise<T> {
    return exact(await call<T>(this.base, "POST", path, body));
  }
}

/** States of one page of a proven history. */
const PAGE = 1_000;

/** Most transactions that a build looks up to know what the requester's coins hold. */
const MOST_CREATORS = 100;

/** Look-ups at the same time. */
const PARALLEL = 4;

/** An answer, with all amounts of its summary (where there is one) as `bigint`. */
function exact<T>(answer: T): T {
  if (typeof answer !== "object" || answer === null || !("summary" in answer)) return answer;
  return { ...answer, summary: exactSummary(answer.summary) };
}
