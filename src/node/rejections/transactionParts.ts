/**
 * Conversion between the two ways of naming parts of a transaction in a failure: our rules use an index, a node sends
 * the part as CBOR. It needs the transaction.
 */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { as, asSet, CborError, decodeAll, encode, type Item } from "#src/cardano/cbor.ts";
import type { LedgerFailure, OutputAt, RedeemerPointer, RedeemerTarget } from "#src/cardano/failure.ts";
import { compareRefs, type Output, type OutRef } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { policyOf } from "#src/cardano/value.ts";
import { cborHex } from "#src/node/rejections/failureCodec.ts";
import { compareAccounts } from "#src/node/rejections/shapes.ts";

/** Parts of a transaction in the order of their indices, as CBOR in hexadecimal. */
interface RejectedParts {
  readonly outputs: readonly string[];
  readonly targets: { readonly [P in RedeemerPointer["purpose"]]: readonly string[] };
}

/** The parts of a transaction; undefined if the bytes are not a transaction. */
export function transactionParts(transaction: Uint8Array): RejectedParts | undefined {
  try {
    const { inputs, outputs, collateralReturn, mint, withdrawals, body } = scanTransaction(transaction);
    const field = (key: bigint) =>
      as(decodeAll(body), "map").value.find(([k]) => k.type === "int" && k.value === key)?.[1];
    const certificates = field(4n);
    const voters = field(19n);
    const proposals = field(20n);
    const bytes = (hex: string) => toHex(encode(fromHex(hex)));
    return {
      outputs: [...outputs, ...(collateralReturn ? [collateralReturn] : [])].map(({ raw }) => toHex(raw)),
      targets: {
        spend: [...inputs].sort(compareRefs).map(({ txHash, index }) => toHex(encode([fromHex(txHash), index]))),
        mint: [...new Set([...mint.keys()].map(policyOf))].sort().map(bytes),
        cert: certificates ? asSet(certificates).map(cborHex) : [],
        reward: [...withdrawals.keys()].sort(compareAccounts).map(bytes),
        vote: voters ? as(voters, "map").value.map(([voter]) => voter).sort(compareVoters).map(cborHex) : [],
        propose: proposals ? asSet(proposals).map(cborHex) : [],
      },
    };
  } catch (error) {
    if (error instanceof CborError) return undefined;
    throw error;
  }
}

/** The ledger's order of voters: committee, DReps, pools; scripts first. */
function compareVoters(a: Item, b: Item): number {
  const ranked = (voter: Item): [number, string] => {
    const [kind, hash] = as(voter, "array").value;
    return [[1, 0, 3, 2, 4][Number(as(kind, "int").value)] ?? 5, toHex(as(hash, "bytes").value)];
  };
  const [rankA, hashA] = ranked(a);
  const [rankB, hashB] = ranked(b);
  return rankA - rankB || (hashA < hashB ? -1 : hashA > hashB ? 1 : 0);
}

/** Maps the outputs and the redeemer targets that a failure names. */
function mapParts(
  failure: LedgerFailure,
  ofOutput: <T extends OutputAt>(output: T) => T,
  ofTarget: <T extends RedeemerTarget>(target: T) => T,
): LedgerFailure {
  switch (failure.name) {
    case "BabbageOutputTooSmallUTxO":
      return { ...failure, outputs: failure.outputs.map(ofOutput) };
    case "OutputTooBigUTxO":
      return { ...failure, outputs: failure.outputs.map(ofOutput) };
    case "OutputBootAddrAttrsTooBig":
    case "OutputTooSmallUTxO":
      return { ...failure, outputs: failure.outputs.map(ofOutput) };
    case "MissingRedeemers":
      return { ...failure, redeemers: failure.redeemers.map(ofTarget) };
    case "CollectErrors":
      return {
        ...failure,
        errors: failure.errors.map((error) => (error.kind === "NoRedeemer" ? ofTarget(error) : error)),
      };
    default:
      return failure;
  }
}

/** Adds the CBOR of what a failure names by index. `spends` gives the output of an input, if it is known. */
export function withItems(
  failure: LedgerFailure,
  places: RejectedParts | undefined,
  spends: (ref: OutRef) => Output | undefined,
): LedgerFailure {
  if (failure.name === "ScriptsNotPaidUTxO" && !failure.outputs) {
    const outputs = failure.inputs.flatMap((ref) => spends(ref) ?? []).map(({ raw }) => toHex(raw));
    return outputs.length === failure.inputs.length ? { ...failure, outputs } : failure;
  }
  return mapParts(
    failure,
    (output) => {
      const cbor = output.output ?? places?.outputs[output.index ?? -1];
      return cbor === undefined ? output : { ...output, output: cbor };
    },
    (target) => {
      const cbor = target.item ?? places?.targets[target.purpose][target.index ?? -1];
      return cbor === undefined ? target : { ...target, item: cbor };
    },
  );
}

/** Adds the index of what a failure names as CBOR. */
export function withIndices(failure: LedgerFailure, places: RejectedParts): LedgerFailure {
  const at = (all: readonly string[], cbor: string | undefined) => {
    const index = cbor === undefined ? -1 : all.indexOf(cbor);
    return index < 0 ? {} : { index };
  };
  return mapParts(
    failure,
    (output) => ({ ...output, ...at(places.outputs, output.output) }),
    (target) => ({ ...target, ...at(places.targets[target.purpose], target.item) }),
  );
}
