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
import { messaged } from "#src/base/json.ts";
import { CheckedTransaction, checkTransaction } from "#src/client/checkedTransaction.ts";
import { factBody } from "#src/client/factKey.ts";
import { ApiError, type Query, queryText } from "#src/client/http.ts";
import { firstOf, fromSummary, fromTransactions, type Intent, summarize, type Summary } from "#src/client/summary.ts";
import { intentAgain, type RequestedChange, requestIntent } from "#src/client/tokenIntents.ts";
import { TokenReads } from "#src/client/tokenReads.ts";
import type {
  Checked,
  PayingOptions,
  Rebuilt,
  RequestOptions,
  Unsigned,
  UnsignedBoot,
  UnsignedRequest,
  UnsignedTransfer,
  UnsignedUpdate,
  UpdateDryRun,
  UpdateOptions,
} from "#src/client/tokenTypes.ts";
import { transactionHash } from "#src/client/witnesses.ts";

export { CheckedTransaction, signTransaction, signUnchecked } from "#src/client/checkedTransaction.ts";

export type * from "#src/client/tokenTypes.ts";

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
export class TokenClient extends TokenReads {
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
}

/** Codes of warnings that say that a request could not be applied. */
const EXPECTED_FAILURES: ReadonlySet<string> = new Set(["fact_exists", "fact_missing", "fact_differs"]);

/** What a transaction spends beside outputs of the contract, or puts up as collateral, by references in its bytes. */
function coinsOf({ summary }: Unsigned): string[] {
  const inputs = [summary?.spends, summary?.collateral?.inputs].flatMap((some) => Array.isArray(some) ? some : []);
  return inputs.flatMap((one) => typeof one?.outputRef === "string" && !one.output?.holds ? [one.outputRef] : []);
}
