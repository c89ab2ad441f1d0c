/**
 * The summary of a transaction, computed from its bytes and from the outputs that it spends.
 *
 * Assumptions:
 * - The ledger's rules hold. A transaction that does not balance, or that the contract refuses, can at most lose its
 *   collateral.
 * - Each output passed in is the one that its reference names. The caller is responsible for that.
 *
 * Every part of the transaction is either described or listed under `unknown`. Silence never means harmless.
 */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { compareRefs, type OutRef, refKey } from "#src/cardano/output.ts";
import { type SlotConfig, slotTime } from "#src/cardano/parameters.ts";
import type { Summary } from "#src/contract/summary/schema.ts";
import {
  addressEffects,
  appliedMovements,
  describeCollateral,
  isBalanced,
  neededSigners,
  paidToLedger,
} from "#src/contract/summary/valueFlows.ts";
import {
  addressTextOf,
  describeAmount,
  describeInput,
  describeOutput,
  type KnownOutputs,
  outputRefText,
} from "#src/contract/summary/outputs.ts";
import {
  type ReadTransaction,
  readTransaction,
  refsIn,
  type UnknownPart,
} from "#src/contract/summary/readTransaction.ts";
import { paymentScript, versionOf } from "#src/contract/summary/scripts.ts";
import { describeTokens, type TokenChanges } from "#src/contract/summary/tokens.ts";

/** The point of view of a summary. */
interface SummaryView {
  /** The requester's address, its bytes in hexadecimal. */
  readonly address?: string | undefined;
  /** Other addresses of the requester's wallet. */
  readonly own?: readonly string[] | undefined;
  /** How slots map to time, where that is known. */
  readonly slots?: SlotConfig | undefined;
}

export type Undecodable = Failure<"undecodable">;

/** Parses a transaction; `undecodable` if the bytes are not one. */
export function parseTransaction(transaction: Uint8Array): Result<ReadTransaction, Undecodable> {
  return decodable(() => readTransaction(transaction));
}

/**
 * References to every output that a transaction spends, uses as collateral or reads; `undecodable` if the bytes are not a
 * transaction. Takes less than a millisecond.
 */
export function referencedOutputs(transaction: Uint8Array): Result<readonly OutRef[], Undecodable> {
  return decodable(() => refsIn(transaction));
}

function decodable<T>(read: () => T): Result<T, Undecodable> {
  try {
    return ok(read());
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return fail("undecodable", `The bytes are not a transaction: ${error.message}.`);
  }
}

/** Describes everything that a transaction does. `known` holds the outputs it refers to, as far as they are resolved. */
export function summarizeTransaction(read: ReadTransaction, known: KnownOutputs, view: SummaryView = {}): Summary {
  const { address, own } = view;
  const viewer = address === undefined ? undefined : { address, own: new Set(own) };
  const { spends, makes } = appliedMovements(read);
  const tokens = read.valid ? describeTokens(read, known, viewer) : NOTHING;
  const refunded = new Map(tokens.refunds.map(({ index, request }) => [index, request]));
  const first = read.valid ? 0 : read.outputs.length;
  const made = makes.map((output, i) => {
    const described = describeOutput(output, viewer);
    const plain = described.datum === null && described.datumHash === null && described.script === null;
    const purpose = described.holds?.type ??
      (refunded.has(i) ? "refund" : described.whose === "requester" && plain ? "change" : "payment");
    const pays: Summary["pays"][number] = { index: first + i, ...described, purpose, for: refunded.get(i) ?? null };
    return { pays, locks: describeLocks(output.address, pays, describeAmount(output.value)) };
  });
  return {
    hash: read.hash,
    size: read.size,
    valid: read.valid,
    address: address === undefined ? null : addressTextOf(address),
    spends: [...spends].sort(compareRefs).map((ref) => describeInput(ref, known, viewer)),
    pays: made.map(({ pays }) => pays),
    mints: tokens.mints,
    tokens: tokens.tokens,
    requests: tokens.requests,
    retracts: tokens.retracts,
    locks: made.flatMap(({ locks }) => locks),
    refunds: tokens.refunds,
    fee: paidToLedger(read, known),
    collateral: describeCollateral(read, known, viewer),
    signers: neededSigners(read, known, viewer),
    validity: { from: describeSlot(read.validFrom, view.slots), until: describeSlot(read.validTo, view.slots) },
    references: [...read.references].sort(compareRefs).map((ref) => describeInput(ref, known, viewer)),
    attached: read.attached,
    scripts: tokens.scripts,
    ...addressEffects(read, known, viewer),
    metadata: read.metadata,
    balanced: isBalanced(read, known),
    unknown: distinct([...read.unknown, ...tokens.unknown, ...unresolvedOutputs(read, known)]),
  };
}

function distinct(unknown: readonly UnknownPart[]): UnknownPart[] {
  return [...new Map(unknown.map((one) => [`${one.code} ${one.message}`, one])).values()];
}

const NOTHING: TokenChanges = {
  mints: [],
  tokens: [],
  requests: [],
  retracts: [],
  refunds: [],
  scripts: [],
  unknown: [],
};

function describeLocks(
  address: string,
  { index, holds }: Summary["pays"][number],
  amount: Summary["locks"][number]["amount"],
): Summary["locks"] {
  const script = paymentScript(address);
  if (script === undefined || versionOf(script) === undefined) return [];
  return [{ index, for: holds?.type ?? "unknown", tokenId: holds?.tokenId ?? null, amount }];
}

/** The last instant that a `Date` can hold, in ms since 1970. */
const LAST = 8_640_000_000_000_000;

function describeSlot(slot: bigint | undefined, slots: SlotConfig | undefined): Summary["validity"]["from"] {
  if (slot === undefined) return null;
  const time = slots && slotTime(slots, Number(slot));
  return { slot, time: time === undefined || Math.abs(time) > LAST ? null : new Date(time).toISOString() };
}

/** Unresolved collateral and reference inputs. Unresolved inputs are reported by `describeTokens`. */
function unresolvedOutputs(read: ReadTransaction, known: KnownOutputs): UnknownPart[] {
  const not = (refs: readonly OutRef[], code: string, what: string) =>
    refs.filter((ref) => !known.has(refKey(ref))).map((ref) => ({
      code,
      message: `The contents of the ${what} ${outputRefText(ref)} are unknown.`,
    }));
  return [
    ...not(read.collateral, "collateral_unknown", "collateral"),
    ...not(read.references, "reference_unknown", "reference input"),
  ];
}
