/**
 * What a transaction does, recomputed here from its bytes; runs in a browser. Whoever signs what another one built asks `requireIntent`
 * first, and signs only what that answers with.
 *
 * ```ts
 * const built = await client.insert(address, token, "key", "value");
 * const intent = { type: "insert", token, key: "key", newValue: "value", address, maxFee: 500_000n } as const;
 * const checked = await checkSummary(built, intent, { resolve: fromUtxos(await wallet.getUtxos()) });
 * if (!checked.ok) throw new Error(checked.error.message);
 * ```
 */
import { fromHex, isHex } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Summary, SummaryInput } from "#src/api/summary.ts";
import { as, CborError, decode } from "#src/cardano/cbor.ts";
import { type Output, type OutRef, readOutput, readRef, refKey } from "#src/cardano/output.ts";
import { madeOutput } from "#src/cardano/transaction.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { referenceScript } from "#src/cage/publication.ts";
import { cageScripts } from "#src/cage/script.ts";
import {
  parseTransaction,
  referencedOutputs,
  summarizeTransaction,
  type Undecodable,
} from "#src/cage/summary/summarize.ts";
import type { Intent, NotIntended, Vouched } from "#src/cage/summary/intent.ts";
import { judgeSummary } from "#src/cage/summary/judgeSummary.ts";
import { appliedMovements } from "#src/cage/summary/valueFlows.ts";

export type { Intent, Limits, NotIntended, Reason } from "#src/cage/summary/intent.ts";
export type { Summary } from "#src/api/summary.ts";

/** Outputs by `<transaction hash>#<index>`. */
export type Outputs = ReadonlyMap<string, Output>;

/** Finds outputs; what is not found is left out. */
export type Resolve = (refs: readonly OutRef[]) => Outputs | Promise<Outputs>;

export interface Seeing {
  /** Where the outputs come from that the transaction spends. */
  readonly resolve: Resolve;
  /** How slots map to time on the network, for the times in the summary. */
  readonly slots?: SlotConfig | undefined;
}

/** `undecodable`: no transaction; `bad_address`: the intent's address is none; `summary_differs`: the summary told is not the true one. */
export type Refused = NotIntended | Undecodable | Failure<"bad_address" | "summary_differs">;

type Bytes = string | Uint8Array;

function bytesOf(transaction: Bytes): Uint8Array {
  if (typeof transaction !== "string") return transaction;
  return isHex(transaction) ? fromHex(transaction) : new Uint8Array();
}

/** What a transaction (CBOR, or its hexadecimal form) does, seen from an address (as text) where one is given. */
export async function summarize(
  transaction: Bytes,
  { resolve, slots, address }: Seeing & { readonly address?: string | undefined },
): Promise<Result<Summary, Undecodable | Failure<"bad_address">>> {
  const bytes = bytesOf(transaction);
  const [read, refs] = [parseTransaction(bytes), referencedOutputs(bytes)];
  if (!read.ok) return read;
  if (!refs.ok) return refs;
  const viewer = address === undefined ? undefined : parseAddress(address);
  if (viewer?.ok === false) return fail("bad_address", viewer.error.message);
  const known = await resolve(refs.value);
  return ok(summarizeTransaction(read.value, known, { address: viewer?.value.hex, slots }));
}

/**
 * Gives the summary of a transaction that does what is meant and nothing else, or every reason why it is not that. `resolve` is believed: where
 * it may be mistaken about some outputs, see `checkSummary`.
 */
export async function requireIntent(
  transaction: Bytes,
  intent: Intent,
  seeing: Seeing,
): Promise<Result<Summary, Refused>> {
  return await requireVouched(transaction, intent, seeing, () => true);
}

async function requireVouched(
  transaction: Bytes,
  intent: Intent,
  seeing: Seeing,
  vouched: Vouched,
): Promise<Result<Summary, Refused>> {
  const summary = await summarize(transaction, { ...seeing, address: intent.address });
  return summary.ok ? judgeSummary(summary.value, intent, vouched) : summary;
}

/**
 * `requireIntent` for what an instance answered, whose summary must be the true one as well. What `resolve` does not know of the outputs that are
 * spent is what the answer claims. That suffices where nobody else is paid: no more leaves the requester than is meant, the ledger sees to it.
 * For `apply` and `transfer` `resolve` must know all outputs of the requester (`fromUtxos` of his wallet) or all of the contract
 * (`fromTransactions` of those that made them); with the first, which requests stand behind their references is the instance's word.
 */
export async function checkSummary(
  answer: { readonly unsignedTransaction: string; readonly summary: Summary },
  intent: Intent,
  { resolve, slots }: { readonly resolve?: Resolve | undefined; readonly slots?: SlotConfig | undefined } = {},
): Promise<Result<Summary, Refused>> {
  const claimed = fromSummary(answer.summary);
  const vouched = new Set<string>();
  const trusted: Resolve = async (refs) => {
    const known = resolve ? await resolve(refs) : new Map<string, Output>();
    for (const key of known.keys()) vouched.add(key.replace("#", "-"));
    return known;
  };
  const seeing = { resolve: firstOf(trusted, claimed), slots };
  const checked = await requireVouched(answer.unsignedTransaction, intent, seeing, (ref) => vouched.has(ref));
  if (!checked.ok || toJson(comparable(checked.value)) === toJson(comparable(answer.summary))) return checked;
  return fail("summary_differs", "The summary that was told is not that of the transaction.");
}

/** Members that depend on who tells: on whether he knows how slots map to times, and on how a provider writes an output. */
const TOLD_APART = new Set(["time", "cbor"]);

/** A summary in a form to compare, whether it came as JSON or was made here. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value === "bigint" || typeof value === "number") return `${value}`;
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value).filter(([name]) => !TOLD_APART.has(name)).sort(([a], [b]) => a < b ? -1 : 1)
    .map(([name, one]) => [name, comparable(one)]);
}

/** Members that are numbers; all other integers of a summary are `bigint`. */
const NUMBERS = new Set(["index", "size"]);

/** A summary as JSON had it, with every amount and slot as a `bigint`. */
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

function quietly<T>(read: () => T): T[] {
  try {
    return [read()];
  } catch (error) {
    if (error instanceof CborError || error instanceof TypeError) return [];
    throw error;
  }
}

/** An output as it is claimed. */
function claimed({ cbor, address, amount, script }: NonNullable<SummaryInput["output"]>): Output {
  if (cbor !== null) return readOutput(decode(fromHex(cbor)));
  const [where, contract] = [parseAddress(address), cageScripts.find(({ hash }) => hash === script?.hash)];
  if (!where.ok || !contract) throw new TypeError("no output that carries the contract");
  const value = {
    lovelace: BigInt(amount.lovelace),
    assets: new Map(Object.entries(amount.assets).map(([asset, quantity]) => [asset, BigInt(quantity)])),
  };
  return madeOutput({ address: where.value.hex, value, script: referenceScript(contract) });
}

/** The outputs that a summary claims for a transaction's inputs: nobody has checked them. What cannot be read is left out. */
export function fromSummary(summary: Summary): Resolve {
  const inputs = quietly(() => [...summary.spends, ...summary.collateral?.inputs ?? [], ...summary.references]).flat();
  const outputs = mapOf(inputs.flatMap((input) =>
    quietly(() => {
      const [txHash = "", index] = input.outputRef.split("-");
      return [{ txHash, index: Number(index) }, claimed(input.output!)] as const;
    })
  ));
  return () => outputs;
}

/** The outputs of whole transactions (CBOR in hexadecimal): they are those that the references name, for a reference is the hash of its transaction. */
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

/** Outputs as a wallet tells them (CIP-30, `getUtxos`): CBOR of `[input, output]` in hexadecimal. */
export function fromUtxos(utxos: readonly string[]): Resolve {
  const outputs = mapOf(utxos.flatMap((utxo) =>
    quietly(() => {
      const [input, output] = as(decode(fromHex(utxo)), "array").value;
      if (!input || !output) throw new CborError("no output");
      return [readRef(input), readOutput(output)] as const;
    })
  ));
  return () => outputs;
}

/** Asks one after the other, each for what those before it did not know. */
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
