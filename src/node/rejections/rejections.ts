/**
 * A node's rejections of transactions (mini-protocol local-tx-submission): decoded into the ledger's failures, and
 * encoded like a node of the Conway era, for our server.
 *
 * Nothing is lost: an unknown failure, or one whose data have another form, keeps its CBOR.
 */
import { as, CborError, decodeAll, type Encodable, encode, type Item } from "#src/cardano/cbor.ts";
import { ERAS } from "#src/cardano/eras.ts";
import type { FailureName, LedgerFailure } from "#src/cardano/failure.ts";
import { describeFailure } from "#src/cardano/failureText.ts";
import type { Output, OutRef } from "#src/cardano/output.ts";
import { encodeEraMismatch, eraMismatch, readEraMismatch } from "#src/node/queries/eraMismatch.ts";
import { governanceFailures } from "#src/node/rejections/governance.ts";
import { transactionFailures } from "#src/node/rejections/transaction.ts";
import { readEarlierFailure } from "#src/node/rejections/preConway.ts";
import { cborHex, type FailureCodec, ruleName } from "#src/node/rejections/failureCodec.ts";
import { transactionParts, withIndices, withItems } from "#src/node/rejections/transactionParts.ts";
import { eraName, readSmallNumber } from "#src/node/protocols/values.ts";

const CONWAY = 6;
/** Number of `ConwayMempoolFailure`, which carries a text. */
const MEMPOOL = 7;

/** Every failure of Conway. */
const failureCodecs: readonly FailureCodec[] = [...transactionFailures, ...governanceFailures];
const byPath = new Map(failureCodecs.map((leaf) => [leaf.path.join(","), leaf]));
const byName = new Map<FailureName, FailureCodec>(failureCodecs.map((leaf) => [leaf.name, leaf]));

/** Numbers of the rules that lead to a failure, from LEDGER on; undefined for one that Conway's ledger does not report. */
export function rulePathOf(name: FailureName): readonly number[] | undefined {
  return byName.get(name)?.path.slice(0, -1);
}

/**
 * Decodes a rejection: `[[era, [failure, …]]]`, an era mismatch, or only a text (from nodes on gouroboros). With the
 * transaction, failures also get the index of the parts they name. Throws `CborError` for anything else.
 */
export function decodeRejection(bytes: Uint8Array, transaction?: Uint8Array): readonly LedgerFailure[] {
  const whole = decodeAll(bytes);
  if (whole.type === "text") return [{ name: "ConwayMempoolFailure", message: whole.value }];
  const outer = as(whole, "array").value;
  if (outer.length === 2) {
    const { asked, ledger } = readEraMismatch(outer).details;
    return [{ name: "EraMismatch", transaction: asked.name, ledger: ledger.name }];
  }
  const [index, failures] = outer.length === 1 ? as(outer[0], "array").value : [];
  if (!index || !failures) throw new CborError("not a rejection");
  const era = readSmallNumber(index);
  // Byron has no list of failures: one failure follows
  const list = era === 0 ? [failures] : as(failures, "array").value;
  const read = list.map((failure) => readFailure(era, failure));
  const places = transaction && transactionParts(transaction);
  return places ? read.map((failure) => withIndices(failure, places)) : read;
}

function readFailure(era: number, failure: Item): LedgerFailure {
  if (era === CONWAY) return readConway(failure, []);
  if (era < CONWAY) return readEarlierFailure(era, failure);
  return { name: "UnknownFailure", rule: `LEDGER of ${eraName(era)}`, cbor: cborHex(failure) };
}

function readConway(item: Item, above: readonly number[]): LedgerFailure {
  const unknown: LedgerFailure = { name: "UnknownFailure", rule: ruleName(above) ?? "LEDGER", cbor: cborHex(item) };
  try {
    const [number, ...rest] = as(item, "array").value;
    const [below] = rest;
    const path = [...above, readSmallNumber(number)];
    if (ruleName(path) && below && rest.length === 1) return readConway(below, path);
    return byPath.get(path.join(","))?.read(rest) ?? unknown;
  } catch (error) {
    if (error instanceof CborError) return unknown;
    throw error;
  }
}

/** What a server knows of a refused transaction besides its failures. */
interface RejectionContext {
  /** Its bytes: failures that name a part by index are encoded with the part itself, as a node does. */
  readonly transaction?: Uint8Array;
  /** The output of an input. */
  readonly spends?: (ref: OutRef) => Output | undefined;
}

/**
 * Encodes a rejection like a node in the Conway era. A failure without a form there, or with less data than a node
 * would send, becomes a `ConwayMempoolFailure` with its message.
 */
export function encodeRejection(
  failures: readonly LedgerFailure[],
  { transaction, spends }: RejectionContext = {},
): Uint8Array {
  const mismatch = failures.find((failure) => failure.name === "EraMismatch");
  if (mismatch) {
    const era = (name: string) => ({ era: ERAS.findIndex((known) => known === name), name });
    return encode(encodeEraMismatch(eraMismatch(era(mismatch.transaction), era(mismatch.ledger))));
  }
  const places = transaction && transactionParts(transaction);
  const values = failures
    .flatMap(splitByAccount)
    .map((failure) => failureValue(withItems(failure, places, spends ?? (() => undefined))));
  return encode([[CONWAY, values]]);
}

/** Splits failures that the ledger reports for one account at a time. */
function splitByAccount(failure: LedgerFailure): readonly LedgerFailure[] {
  if (failure.name !== "ProposalProcedureNetworkIdMismatch" && failure.name !== "ProposalReturnAccountDoesNotExist") {
    return [failure];
  }
  return failure.accounts.map((account) => ({ ...failure, accounts: [account] }));
}

function failureValue(failure: LedgerFailure): Encodable {
  const leaf = byName.get(failure.name);
  const data = leaf && encodeFailure(leaf, failure);
  if (!data) return [MEMPOOL, describeFailure(failure)];
  return leaf.path.reduceRight<readonly Encodable[]>((inner, number, i) => {
    return i === leaf.path.length - 1 ? [number, ...inner] : [number, inner];
  }, data);
}

function encodeFailure(leaf: FailureCodec, failure: LedgerFailure): readonly Encodable[] | undefined {
  try {
    return leaf.write(failure);
  } catch (error) {
    if (error instanceof CborError) return undefined;
    throw error;
  }
}
