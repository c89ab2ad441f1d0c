/**
 * Why a node refuses a transaction (mini-protocol local-tx-submission): read from a node's rejection into the ledger's failures, and
 * written as a node of the Conway era would, for our server.
 *
 * Nothing that a node tells is lost: a failure that is not known here, or whose data are not of the form known here, keeps its CBOR.
 */
import { as, CborError, decodeAll, type Encodable, encode, type Item } from "#src/cardano/cbor.ts";
import { ERAS } from "#src/cardano/eras.ts";
import type { FailureName, LedgerFailure } from "#src/cardano/failure.ts";
import { describeFailure } from "#src/cardano/failureText.ts";
import type { Output, OutRef } from "#src/cardano/output.ts";
import { encodeEraMismatch, eraMismatch, readEraMismatch } from "#src/node/queries/eraMismatch.ts";
import { leaves } from "#src/node/rejections/conway.ts";
import { readEarlierFailure } from "#src/node/rejections/earlier.ts";
import { cborHex, type Leaf, ruleAt } from "#src/node/rejections/leaf.ts";
import { placesOf, withIndices, withItems } from "#src/node/rejections/places.ts";
import { eraName, small } from "#src/node/protocols/values.ts";

const CONWAY = 6;
/** Number of `ConwayMempoolFailure`, which carries a sentence. */
const MEMPOOL = 7;

const byPath = new Map(leaves.map((leaf) => [leaf.path.join(","), leaf]));
const byName = new Map<FailureName, Leaf>(leaves.map((leaf) => [leaf.name, leaf]));

/**
 * Reads the argument of a rejection: `[[era, [failure, …]]]`, an era mismatch, or a sentence alone (of nodes on gouroboros). With the
 * transaction, failures also state the index of what they tell of it. Throws `CborError` on anything else.
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
  const era = small(index);
  // Byron knows no list of failures: what follows is one of them
  const list = era === 0 ? [failures] : as(failures, "array").value;
  const read = list.map((failure) => readFailure(era, failure));
  const places = transaction && placesOf(transaction);
  return places ? read.map((failure) => withIndices(failure, places)) : read;
}

function readFailure(era: number, failure: Item): LedgerFailure {
  if (era === CONWAY) return readConway(failure, []);
  if (era < CONWAY) return readEarlierFailure(era, failure);
  return { name: "UnknownFailure", rule: `LEDGER of ${eraName(era)}`, cbor: cborHex(failure) };
}

function readConway(item: Item, above: readonly number[]): LedgerFailure {
  const unknown: LedgerFailure = { name: "UnknownFailure", rule: ruleAt(above) ?? "LEDGER", cbor: cborHex(item) };
  try {
    const [number, ...rest] = as(item, "array").value;
    const path = [...above, small(number)];
    if (ruleAt(path) && rest.length === 1) return readConway(rest[0]!, path);
    return byPath.get(path.join(","))?.read(rest) ?? unknown;
  } catch (error) {
    if (error instanceof CborError) return unknown;
    throw error;
  }
}

/** What a server knows of a refused transaction beside its failures. */
export interface Refused {
  /** Its bytes: failures that name a part of it by index are told with the part itself, as a node does. */
  readonly transaction?: Uint8Array;
  /** The output behind an input. */
  readonly spends?: (ref: OutRef) => Output | undefined;
}

/**
 * The argument of a rejection by a node in the Conway era. A failure that has no form there, or of which less is known than a node
 * would tell, goes as `ConwayMempoolFailure` with its sentence.
 */
export function encodeRejection(failures: readonly LedgerFailure[], { transaction, spends }: Refused = {}): Uint8Array {
  const mismatch = failures.find((failure) => failure.name === "EraMismatch");
  if (mismatch) {
    const era = (name: string) => ({ era: (ERAS as readonly string[]).indexOf(name), name });
    return encode(encodeEraMismatch(eraMismatch(era(mismatch.transaction), era(mismatch.ledger))));
  }
  const places = transaction && placesOf(transaction);
  const values = failures
    .flatMap(oneAccountEach)
    .map((failure) => failureValue(withItems(failure, places, spends ?? (() => undefined))));
  return encode([[CONWAY, values]]);
}

/** The ledger tells these of one account at a time. */
function oneAccountEach(failure: LedgerFailure): readonly LedgerFailure[] {
  if (failure.name !== "ProposalProcedureNetworkIdMismatch" && failure.name !== "ProposalReturnAccountDoesNotExist") {
    return [failure];
  }
  return failure.accounts.map((account) => ({ ...failure, accounts: [account] }));
}

function failureValue(failure: LedgerFailure): Encodable {
  const leaf = byName.get(failure.name);
  const data = leaf && written(leaf, failure);
  if (!data) return [MEMPOOL, describeFailure(failure)];
  return leaf.path.reduceRight<readonly Encodable[]>((inner, number, i) => {
    return i === leaf.path.length - 1 ? [number, ...inner] : [number, inner];
  }, data);
}

function written(leaf: Leaf, failure: LedgerFailure): readonly Encodable[] | undefined {
  try {
    return leaf.write(failure);
  } catch (error) {
    if (error instanceof CborError) return undefined;
    throw error;
  }
}
