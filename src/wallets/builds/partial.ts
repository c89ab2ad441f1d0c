/** Reads and completes partial transactions. Parts that completion does not replace keep their bytes. */
import { concat, fromHex } from "#src/base/bytes.ts";
import {
  as,
  asInt,
  asSet,
  CborError,
  decode,
  type Encodable,
  encode,
  Encoded,
  head,
  type Item,
  raw,
} from "#src/cardano/cbor.ts";
import type { ScannedTransaction } from "#src/cardano/block.ts";
import { compareRefs, type OutRef } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import {
  encodeOutput,
  encodeRedeemers,
  inLedgerOrder,
  type NewOutput,
  partsOf,
  type Redeemer,
  REDEEMER_TAGS,
  type RedeemerFor,
} from "#src/cardano/transaction.ts";
import { policyOf } from "#src/cardano/value.ts";
import type { Collateral } from "#src/transaction/collateral.ts";

/** Keys of the body fields that `complete` sets (Conway CDDL). */
const BODY = {
  inputs: 0n,
  outputs: 1n,
  fee: 2n,
  dataHash: 11n,
  collateral: 13n,
  collateralReturn: 16n,
  totalCollateral: 17n,
};
/** Witness set fields. */
const WITNESS = { keys: 0n, natives: 1n, bootstraps: 2n, datums: 4n, redeemers: 5n };

/** A decoded partial transaction; `body` and `witnesses` hold the CBOR of each field by its key. */
export interface PartialTransaction {
  readonly scanned: ScannedTransaction & { readonly fee: bigint };
  readonly body: ReadonlyMap<bigint, Uint8Array>;
  readonly witnesses: ReadonlyMap<bigint, Uint8Array>;
  readonly auxiliary: Uint8Array;
  /** CBOR of each output. */
  readonly outputs: readonly Uint8Array[];
  /** CBOR of each native script. */
  readonly natives: readonly Uint8Array[];
  readonly redeemers: readonly Redeemer[];
  /** Whether it has any signature. */
  readonly isSigned: boolean;
}

function fieldsOf(item: Item): Map<bigint, Uint8Array> {
  return new Map(as(item, "map").value.map(([key, value]) => [asInt(key), raw(value)]));
}

/**
 * Reads a partial transaction.
 *
 * @throws {CborError} if the bytes are not a transaction or a redeemer has no target in it
 */
export function readPartial(transaction: Uint8Array): PartialTransaction {
  const { body, witnesses, auxiliary } = partsOf(transaction);
  const scanned = scanTransaction(transaction);
  const fields = fieldsOf(body);
  const set = new Map(witnesses.map(([key, value]) => [asInt(key), value]));
  const list = (field: bigint) => set.has(field) ? asSet(set.get(field)) : [];
  return {
    scanned,
    body: fields,
    witnesses: new Map([...set].map(([key, value]) => [key, raw(value)])),
    auxiliary: raw(auxiliary),
    outputs: as(decode(fields.get(BODY.outputs) ?? new Uint8Array()), "array").value.map(raw),
    natives: list(WITNESS.natives).map(raw),
    redeemers: redeemersOf(set.get(WITNESS.redeemers), scanned),
    isSigned: list(WITNESS.keys).length + list(WITNESS.bootstraps).length > 0,
  };
}

function redeemersOf(item: Item | undefined, scanned: ScannedTransaction): Redeemer[] {
  if (!item) return [];
  const entries = item.type === "map"
    ? item.value.map(([key, value]) => [...as(key, "array").value, ...as(value, "array").value])
    : as(item, "array").value.map((one) => as(one, "array").value);
  return entries.map(([tag, index, data, units]) => {
    const [memory, steps] = as(units, "array").value;
    if (!data) throw new CborError("a redeemer without data");
    return {
      for: targetAt(Number(asInt(tag)), Number(asInt(index)), scanned),
      data: raw(data),
      units: { memory: asInt(memory), steps: asInt(steps) },
    };
  });
}

/** The item that a redeemer points to by tag and index. */
function targetAt(tag: number, index: number, { inputs, mint, withdrawals }: ScannedTransaction): RedeemerFor {
  const [purpose] = Object.entries(REDEEMER_TAGS).find(([, number]) => number === tag) ?? [];
  const ref = [...inputs].sort(compareRefs)[index];
  const policy = [...new Set([...mint.keys()].map(policyOf))].sort()[index];
  const account = inLedgerOrder([...withdrawals].map(([account, amount]) => ({ account, amount })))[index]?.account;
  if (purpose === "spend" && ref) return { purpose, ref };
  if (purpose === "mint" && policy !== undefined) return { purpose, policy };
  if (purpose === "reward" && account !== undefined) return { purpose, account };
  if (purpose === "cert" || purpose === "vote" || purpose === "propose") return { purpose, index };
  throw new CborError("a redeemer has no matching item in the transaction");
}

/** Values set by `complete`: `inputs` and `redeemers` are all of them, `change` and `natives` only the added ones. */
interface Completion {
  readonly inputs: readonly OutRef[];
  readonly change: readonly NewOutput[];
  readonly fee: bigint;
  readonly redeemers: readonly Redeemer[];
  readonly collateral?: Collateral | undefined;
  readonly scriptDataHash?: string | undefined;
  /** CBOR of native scripts to add. */
  readonly natives: readonly Uint8Array[];
}

/** CBOR of the completed transaction. Existing outputs and all fields outside `completion` keep their bytes. */
export function complete(partial: PartialTransaction, completion: Completion): Uint8Array {
  const { scanned, outputs, auxiliary } = partial;
  const { inputs, change, fee, collateral, scriptDataHash, natives } = completion;
  const refs = (list: readonly OutRef[]) =>
    tagged([...list].sort(compareRefs).map(({ txHash, index }) => encode([fromHex(txHash), index])));
  const body = new Map(partial.body);
  body.set(BODY.inputs, refs(inputs));
  body.set(BODY.outputs, listOf([...outputs, ...change.map(encodeOutput)]));
  body.set(BODY.fee, encode(fee));
  if (collateral) {
    body.set(BODY.collateral, refs(collateral.inputs.map(({ ref }) => ref)));
    body.set(BODY.totalCollateral, encode(collateral.total));
    if (collateral.return) body.set(BODY.collateralReturn, encodeOutput(collateral.return));
  }
  if (scriptDataHash !== undefined) body.set(BODY.dataHash, encode(fromHex(scriptDataHash)));
  const witnesses = new Map(partial.witnesses);
  const redeemers = redeemersBytes(scanned, completion);
  if (redeemers) witnesses.set(WITNESS.redeemers, redeemers);
  if (natives.length > 0) witnesses.set(WITNESS.natives, tagged([...partial.natives, ...natives]));
  return concat(head(4, 4), mapOf(body), mapOf(witnesses), encode(true), auxiliary);
}

/** Mint and withdrawals: besides the inputs, redeemer indices depend on them. */
export function indexed(scanned: ScannedTransaction) {
  return {
    mint: scanned.mint,
    withdrawals: [...scanned.withdrawals].map(([account, amount]) => ({ account, amount })),
  };
}

/** CBOR of the redeemers, the bytes that enter the script data hash; undefined if there are none. */
export function redeemersBytes(
  scanned: ScannedTransaction,
  { inputs, redeemers }: Pick<Completion, "inputs" | "redeemers">,
): Uint8Array | undefined {
  return encodeRedeemers({ ...indexed(scanned), inputs, redeemers });
}

function listOf(elements: readonly Uint8Array[]): Uint8Array {
  return concat(head(4, elements.length), ...elements);
}

function tagged(elements: readonly Uint8Array[]): Uint8Array {
  return concat(head(6, 258), listOf(elements));
}

/** CBOR of a map of encoded values, keys in ascending order. */
export function mapOf(fields: ReadonlyMap<bigint, Uint8Array>): Uint8Array {
  const inOrder = [...fields].sort(([a], [b]) => a < b ? -1 : 1);
  return encode(new Map<Encodable, Encodable>(inOrder.map(([key, bytes]) => [key, new Encoded(bytes)])));
}
