/**
 * What a transaction does, told from its bytes and the outputs that it spends.
 *
 * Hypotheses: the ledger's rules hold, so a transaction that does not balance or that the contract refuses does nothing but, at the most,
 * forfeit its collateral; outputs that are given here are those that the references name, which whoever gives them answers for. It never
 * follows that a part of a transaction is harmless because nothing is said of it: every part is told, or stands under `unknown`.
 */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { compareRefs, type OutRef, refKey } from "#src/cardano/output.ts";
import { type SlotConfig, slotTime } from "#src/cardano/parameters.ts";
import type { Summary } from "#src/api/summary.ts";
import { balancedTold, collateralTold, effectsTold, moved, paidTold, signersTold } from "#src/cage/summary/money.ts";
import { amountTold, inputTold, type KnownOutputs, outputTold, refText, textOf } from "#src/cage/summary/outputs.ts";
import { type ReadTransaction, readTransaction, refsIn, type Strange } from "#src/cage/summary/read.ts";
import { paymentScript, versionOf } from "#src/cage/summary/scripts.ts";
import { type TokensTold, tokensTold } from "#src/cage/summary/tokens.ts";

/** From where a transaction is looked at. */
export interface View {
  /** The requester's address, its bytes in hexadecimal. */
  readonly address?: string | undefined;
  /** How slots map to time, where that is known. */
  readonly slots?: SlotConfig | undefined;
}

export type Undecodable = Failure<"undecodable">;

/** Reads a transaction; `undecodable` for bytes that are none. */
export function readable(transaction: Uint8Array): Result<ReadTransaction, Undecodable> {
  return decodable(() => readTransaction(transaction));
}

/** Every output that a transaction spends or looks at; `undecodable` for bytes that are none. Takes less than a millisecond. */
export function resolvable(transaction: Uint8Array): Result<readonly OutRef[], Undecodable> {
  return decodable(() => refsIn(transaction));
}

function decodable<T>(read: () => T): Result<T, Undecodable> {
  try {
    return ok(read());
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return fail("undecodable", `These bytes are no transaction: ${error.message}.`);
  }
}

/** Tells what a transaction does. */
export function explained(read: ReadTransaction, known: KnownOutputs, view: View = {}): Summary {
  const { address } = view;
  const { spends, makes } = moved(read);
  const tokens = read.valid ? tokensTold(read, known, address) : NOTHING;
  const refunded = new Map(tokens.refunds.map(({ index, request }) => [index, request]));
  const first = read.valid ? 0 : read.outputs.length;
  const pays = makes.map((output, i): Summary["pays"][number] => {
    const told = outputTold(output, address);
    const plain = told.datum === null && told.datumHash === null && told.script === null;
    const purpose = told.holds?.type ??
      (refunded.has(i) ? "refund" : told.whose === "requester" && plain ? "change" : "payment");
    return { index: first + i, ...told, purpose, for: refunded.get(i) ?? null };
  });
  return {
    hash: read.hash,
    size: read.size,
    valid: read.valid,
    address: address === undefined ? null : textOf(address),
    spends: [...spends].sort(compareRefs).map((ref) => inputTold(ref, known, address)),
    pays,
    mints: tokens.mints,
    tokens: tokens.tokens,
    requests: tokens.requests,
    retracts: tokens.retracts,
    locks: makes.flatMap((output, i) => lockTold(output.address, pays[i]!, amountTold(output.value))),
    refunds: tokens.refunds,
    fee: paidTold(read, known),
    collateral: collateralTold(read, known, address),
    signers: signersTold(read, known, address),
    validity: { from: slotTold(read.validFrom, view.slots), until: slotTold(read.validTo, view.slots) },
    references: [...read.references].sort(compareRefs).map((ref) => inputTold(ref, known, address)),
    attached: read.attached,
    scripts: tokens.scripts,
    ...effectsTold(read, known, address),
    metadata: read.metadata,
    balanced: balancedTold(read, known),
    unknown: distinct([...read.strange, ...tokens.strange, ...missing(read, known)]),
  };
}

function distinct(strange: readonly Strange[]): Strange[] {
  return [...new Map(strange.map((one) => [`${one.code} ${one.message}`, one])).values()];
}

const NOTHING: TokensTold = {
  mints: [],
  tokens: [],
  requests: [],
  retracts: [],
  refunds: [],
  scripts: [],
  strange: [],
};

function lockTold(
  address: string,
  { index, holds }: Summary["pays"][number],
  amount: Summary["locks"][number]["amount"],
): Summary["locks"] {
  const script = paymentScript(address);
  if (script === undefined || versionOf(script) === undefined) return [];
  return [{ index, for: holds?.type ?? "unknown", tokenId: holds?.tokenId ?? null, amount }];
}

/** The last instant that a date can have, in ms since 1970. */
const LAST = 8_640_000_000_000_000;

function slotTold(slot: bigint | undefined, slots: SlotConfig | undefined): Summary["validity"]["from"] {
  if (slot === undefined) return null;
  const time = slots && slotTime(slots, Number(slot));
  return { slot, time: time === undefined || Math.abs(time) > LAST ? null : new Date(time).toISOString() };
}

/** What is not known of collateral and references; inputs are told with the tokens. */
function missing(read: ReadTransaction, known: KnownOutputs): Strange[] {
  const not = (refs: readonly OutRef[], code: string, what: string) =>
    refs.filter((ref) => !known.has(refKey(ref))).map((ref) => ({
      code,
      message: `It is not known what the ${what} ${refText(ref)} is.`,
    }));
  return [
    ...not(read.collateral, "collateral_unknown", "collateral"),
    ...not(read.references, "reference_unknown", "reference input"),
  ];
}
