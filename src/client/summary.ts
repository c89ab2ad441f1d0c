/**
 * Summaries of transactions, recomputed from their bytes; runs in a browser. Before signing a transaction that another
 * party built, call `requireIntent` (or `checkSummary`) and sign only if it succeeds.
 *
 * @example
 * ```ts
 * import { checkSummary, fromUtxos } from "./src/client/summary.ts";
 * import type { TokenClient } from "./src/client/tokens.ts";
 *
 * // `utxos` are those that `getUtxos` of a browser wallet (CIP-30) gives
 * export async function checkedInsert(client: TokenClient, address: string, token: string, utxos: readonly string[]) {
 *   const built = await client.insert(address, token, "key", "value");
 *   const intent = { type: "insert", token, key: "key", newValue: "value", address, maxFee: 500_000n } as const;
 *   const checked = await checkSummary(built, intent, { resolve: fromUtxos(utxos) });
 *   if (!checked.ok) throw new Error(checked.error.message);
 *   return built.unsignedTransaction;
 * }
 * ```
 */
import { fromHex, isHex } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Summary, SummaryInput } from "#src/contract/summary/schema.ts";
import { as, CborError, decode } from "#src/cardano/cbor.ts";
import { type Output, type OutRef, readOutput, readRef, refKey } from "#src/cardano/output.ts";
import { madeOutput } from "#src/cardano/transaction.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { contractStandIn } from "#src/contract/summary/scripts.ts";
import {
  parseTransaction,
  referencedOutputs,
  summarizeTransaction,
  type Undecodable,
} from "#src/contract/summary/summarize.ts";
import type { Intent, Limits, NotIntended, Vouched } from "#src/contract/summary/intent.ts";
import { judgeSummary } from "#src/contract/summary/judgeSummary.ts";
import { appliedMovements } from "#src/contract/summary/valueFlows.ts";

export type { Intent, Limits, NotIntended, Reason } from "#src/contract/summary/intent.ts";
export type { Summary } from "#src/contract/summary/schema.ts";

/** Outputs by `<transaction hash>#<index>`. */
export type Outputs = ReadonlyMap<string, Output>;

/** Looks up outputs; unknown ones are left out. */
export type Resolve = (refs: readonly OutRef[]) => Outputs | Promise<Outputs>;

export interface SummarySources {
  /** Looks up the outputs that the transaction spends. */
  readonly resolve: Resolve;
  /** How slots map to time on the network, for the times in the summary. */
  readonly slots?: SlotConfig | undefined;
}

/**
 * `undecodable`: no transaction; `bad_address`: the intent has no valid address; `summary_differs`: the given summary
 * is not that of the transaction.
 */
export type IntentRefusal = NotIntended | Undecodable | Failure<"bad_address" | "summary_differs">;

type TransactionBytes = string | Uint8Array;

function bytesOf(transaction: TransactionBytes): Uint8Array {
  if (typeof transaction !== "string") return transaction;
  return isHex(transaction) ? fromHex(transaction) : new Uint8Array();
}

/**
 * The summary of a transaction (CBOR, or its hexadecimal form), from the side of an address where one is given. Amounts are
 * in lovelace.
 *
 * @throws what `resolve` throws.
 *
 * @example
 * ```ts
 * import { fromUtxos, summarize } from "./src/client/summary.ts";
 *
 * const read = await summarize("84a0", { resolve: fromUtxos([]) });
 * console.log(read.ok ? read.value.fee : read.error.code); // undecodable
 * ```
 */
export async function summarize(
  transaction: TransactionBytes,
  { resolve, slots, address, own = [] }: SummarySources & Partial<Pick<Limits, "address" | "own">>,
): Promise<Result<Summary, Undecodable | Failure<"bad_address">>> {
  const bytes = bytesOf(transaction);
  const [read, refs] = [parseTransaction(bytes), referencedOutputs(bytes)];
  if (!read.ok) return read;
  if (!refs.ok) return refs;
  const addresses: string[] = [];
  for (const text of address === undefined ? [] : [address, ...own]) {
    const parsed = parseAddress(text);
    if (!parsed.ok) return fail("bad_address", parsed.error.message);
    addresses.push(parsed.value.hex);
  }
  const known = await resolve(refs.value);
  const [viewer, ...others] = addresses;
  return ok(summarizeTransaction(read.value, known, { address: viewer, own: others, slots }));
}

/**
 * The summary of a transaction that does exactly what is intended, or every reason why it does not. `resolve` is
 * trusted: where it may be wrong about outputs, see `checkSummary`.
 *
 * @throws what `resolve` throws.
 *
 * @example
 * ```ts
 * import { fromTransactions, requireIntent } from "./src/client/summary.ts";
 *
 * // `made` are the transactions that made the outputs which `transaction` spends
 * export async function mayEnd(transaction: string, token: string, address: string, made: readonly string[]) {
 *   const judged = await requireIntent(transaction, { type: "end", token, address }, { resolve: fromTransactions(made) });
 *   return judged.ok;
 * }
 * ```
 */
export async function requireIntent(
  transaction: TransactionBytes,
  intent: Intent,
  sources: SummarySources,
): Promise<Result<Summary, IntentRefusal>> {
  return await requireVouched(transaction, intent, sources, () => true);
}

async function requireVouched(
  transaction: TransactionBytes,
  intent: Intent,
  sources: SummarySources,
  vouched: Vouched,
): Promise<Result<Summary, IntentRefusal>> {
  const { address, own } = intent;
  const summary = await summarize(transaction, { ...sources, address, own });
  return summary.ok ? judgeSummary(summary.value, intent, vouched) : summary;
}

/**
 * `requireIntent` for an instance's answer, whose summary must be correct as well. Spent outputs that `resolve` does
 * not know are taken from the answer. That is safe where no one else is paid: the ledger ensures that no more leaves
 * the requester than intended. For `apply` and `transfer`, the requester's inputs must be the collateral too, whose value
 * the transaction states and the ledger checks; or else `resolve` must know all outputs of the requester (`fromUtxos` of
 * his wallet) or all outputs of the contract (`fromTransactions` of those that created them). Requests that `resolve`
 * does not know are the instance's claim, from which the new root must follow all the same.
 *
 * @throws what `resolve` throws.
 *
 * @example
 * ```ts
 * import { checkSummary, fromUtxos } from "./src/client/summary.ts";
 * import type { TokenClient } from "./src/client/tokens.ts";
 *
 * export async function checkedBoot(client: TokenClient, address: string, utxos: readonly string[]) {
 *   const built = await client.boot(address);
 *   const checked = await checkSummary(built, { type: "boot", address, token: built.value }, { resolve: fromUtxos(utxos) });
 *   if (!checked.ok) throw new Error(checked.error.message);
 *   return built.unsignedTransaction;
 * }
 * ```
 */
export async function checkSummary(
  answer: { readonly unsignedTransaction: string; readonly summary: Summary },
  intent: Intent,
  { resolve, slots }: { readonly resolve?: Resolve | undefined; readonly slots?: SlotConfig | undefined } = {},
): Promise<Result<Summary, IntentRefusal>> {
  const claimed = fromSummary(answer.summary);
  const vouched = new Set<string>();
  const trusted: Resolve = async (refs) => {
    const known = resolve ? await resolve(refs) : new Map<string, Output>();
    for (const key of known.keys()) vouched.add(key.replace("#", "-"));
    return known;
  };
  const sources = { resolve: firstOf(trusted, claimed), slots };
  const { unsignedTransaction } = answer;
  const checked = await requireVouched(unsignedTransaction, intent, sources, (ref) => vouched.has(ref));
  if (!checked.ok) return checked;
  // the service does not know the wallet's other addresses
  const plain = intent.own ? await summarize(unsignedTransaction, { ...sources, address: intent.address }) : checked;
  if (!plain.ok || toJson(comparable(plain.value)) === toJson(comparable(answer.summary))) {
    return plain.ok ? checked : plain;
  }
  return fail("summary_differs", "The service's summary does not match the transaction.");
}

/**
 * Members that depend on the source: on whether it knows how slots map to times, and on how a provider encodes an
 * output.
 */
const SOURCE_DEPENDENT = new Set(["time", "cbor"]);

/** A summary in a comparable form, whether it was parsed from JSON or computed. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value === "bigint" || typeof value === "number") return `${value}`;
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value).filter(([name]) => !SOURCE_DEPENDENT.has(name)).sort(([a], [b]) => a < b ? -1 : 1)
    .map(([name, one]) => [name, comparable(one)]);
}

/** Members that are numbers; all other integers of a summary are `bigint`. */
const NUMBERS = new Set(["index", "size"]);

/**
 * A summary from JSON, with every amount (in lovelace or in units of an asset) and every slot as a `bigint`. Its form is not
 * checked.
 *
 * @example
 * ```ts
 * import { exactSummary } from "./src/client/summary.ts";
 *
 * console.log(exactSummary({ fee: 170_000 }).fee); // 170000n
 * ```
 */
export function exactSummary(json: unknown): Summary {
  const exact = (value: unknown, name?: string): unknown => {
    if (Array.isArray(value)) return value.map((one) => exact(one));
    if (typeof value === "number" && Number.isInteger(value) && !NUMBERS.has(name ?? "")) return BigInt(value);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, exact(one, key)]));
  };
  return exact(json) as Summary;
}

function mapOf(pairs: Iterable<readonly [OutRef, Output]>): Outputs {
  return new Map([...pairs].map(([ref, output]) => [refKey(ref), output]));
}

function ifReadable<T>(read: () => T): T[] {
  try {
    return [read()];
  } catch (error) {
    if (error instanceof CborError || error instanceof TypeError) return [];
    throw error;
  }
}

/** A claimed output, decoded. */
function claimed({ cbor, address, amount, script }: NonNullable<SummaryInput["output"]>): Output {
  if (cbor !== null) return readOutput(decode(fromHex(cbor)));
  const [where, contract] = [parseAddress(address), script && contractStandIn(script.hash)];
  if (!where.ok || !contract) throw new TypeError("no output has the contract as its reference script");
  const value = {
    lovelace: BigInt(amount.lovelace),
    assets: new Map(Object.entries(amount.assets).map(([asset, quantity]) => [asset, BigInt(quantity)])),
  };
  return { ...madeOutput({ address: where.value.hex, value }), script: contract };
}

/**
 * The outputs that a summary claims for a transaction's inputs, unchecked. Unreadable ones are left out.
 *
 * @example
 * ```ts
 * import { fromSummary, summarize } from "./src/client/summary.ts";
 * import type { TokenClient } from "./src/client/tokens.ts";
 *
 * export async function recomputed(client: TokenClient, transaction: string) {
 *   return await summarize(transaction, { resolve: fromSummary(await client.explain(transaction)) });
 * }
 * ```
 */
export function fromSummary(summary: Summary): Resolve {
  const inputs = ifReadable(() => [...summary.spends, ...summary.collateral?.inputs ?? [], ...summary.references])
    .flat();
  const outputs = mapOf(inputs.flatMap((input) =>
    ifReadable(() => {
      const { outputRef, output } = input;
      if (!output) throw new TypeError("the summary does not know the output");
      const [txHash = "", index] = outputRef.split("-");
      return [{ txHash, index: Number(index) }, claimed(output)] as const;
    })
  ));
  return () => outputs;
}

/**
 * The outputs of whole transactions (CBOR in hexadecimal). They need no trust: a reference holds the hash of its
 * transaction. Unreadable transactions are left out.
 *
 * @example
 * ```ts
 * import { fromTransactions } from "./src/client/summary.ts";
 *
 * const known = await fromTransactions(["no transaction"])([]);
 * console.log(known.size); // 0
 * ```
 */
export function fromTransactions(transactions: readonly string[]): Resolve {
  const outputs = mapOf(transactions.flatMap((transaction) => {
    const read = parseTransaction(bytesOf(transaction));
    if (!read.ok) return [];
    const { hash, valid, outputs } = read.value;
    const first = valid ? 0 : outputs.length;
    return appliedMovements(read.value).makes.map((output, i) => [{ txHash: hash, index: first + i }, output] as const);
  }));
  return () => outputs;
}

/**
 * Outputs as a browser wallet gives them (CIP-30, `getUtxos`): CBOR of `[input, output]` in hexadecimal. Unreadable ones are
 * left out.
 *
 * @example
 * ```ts
 * import { fromUtxos } from "./src/client/summary.ts";
 *
 * const known = await fromUtxos(["no output"])([]);
 * console.log(known.size); // 0
 * ```
 */
export function fromUtxos(utxos: readonly string[]): Resolve {
  const outputs = mapOf(utxos.flatMap((utxo) =>
    ifReadable(() => {
      const [input, output] = as(decode(fromHex(utxo)), "array").value;
      if (!input || !output) throw new CborError("no output");
      return [readRef(input), readOutput(output)] as const;
    })
  ));
  return () => outputs;
}

/**
 * Combines look-ups: each gets the references that those before it did not know.
 *
 * @example
 * ```ts
 * import { firstOf, fromTransactions, fromUtxos, type Resolve } from "./src/client/summary.ts";
 *
 * export function ownThenMade(utxos: readonly string[], transactions: readonly string[]): Resolve {
 *   return firstOf(fromUtxos(utxos), fromTransactions(transactions));
 * }
 * ```
 */
export function firstOf(...all: readonly Resolve[]): Resolve {
  return async (refs) => {
    const found = new Map<string, Output>();
    for (const resolve of all) {
      const missing = refs.filter((ref) => !found.has(refKey(ref)));
      if (missing.length === 0) break;
      for (const [key, output] of await resolve(missing)) if (!found.has(key)) found.set(key, output);
    }
    return found;
  };
}
