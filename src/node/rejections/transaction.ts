/** Failures of LEDGER, UTXOW, UTXO and UTXOS: signatures, scripts, inputs and outputs. */
import { as, asInt, type Item } from "#src/cardano/cbor.ts";
import type { OutputAt } from "#src/cardano/failure.ts";
import type { OutRef } from "#src/cardano/output.ts";
import {
  amount,
  type CborShape,
  count,
  listOf,
  maybe,
  sentList,
  sentMap,
  text,
  UNVERSIONED,
} from "#src/node/queries/shape.ts";
import { hex, reference, units } from "#src/node/queries/vocabulary.ts";
import { customCodec, fieldsCodec, itemCodec } from "#src/node/rejections/failureCodec.ts";
import {
  accounts,
  collectError,
  hashes,
  integer,
  knownCbor,
  mismatchedWithdrawals,
  missingRedeemer,
  outputAt,
  pair,
  pointer,
  readOutputAt,
  references,
  value,
  withdrawals,
} from "#src/node/rejections/shapes.ts";

const UTXOW = [1];
const UTXO = [1, 0];
const UTXOS = [1, 0, 0];

const maybeHash = maybe(hex);
const lovelace = { supplied: amount, expected: amount };
const lovelaceSwapped = { expected: amount, supplied: amount };

const list = (item: Item | undefined) => as(item, "array").value;

/** Bounds of a validity interval, in slots. */
const interval: CborShape<{ readonly from?: number; readonly to?: number }> = {
  read(item, at) {
    const [from, to] = list(item).map((bound) => maybe(count).read(bound, at));
    return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  },
  write: ({ from, to }, at) => [maybe(count).write(from, at), maybe(count).write(to, at)],
};

/** An output that is too big: its size, the limit, and the output. */
const bigOutput: CborShape<OutputAt & { readonly supplied: number; readonly expected: number }> = {
  read(item, at) {
    const [supplied, expected, of] = list(item);
    return { ...outputAt.read(of, at), supplied: integer.read(supplied, at), expected: integer.read(expected, at) };
  },
  write: (each, at) => [each.supplied, each.expected, outputAt.write(each, at)],
};

/** An output that holds too little: the output, and the lovelace it should hold. */
const smallOutput: CborShape<OutputAt & { readonly supplied: bigint; readonly expected: bigint }> = {
  read(item) {
    const [of, expected] = list(item);
    const { output, lovelace } = readOutputAt(of);
    return { output, supplied: lovelace, expected: asInt(expected) };
  },
  write: (each, at) => [outputAt.write(each, at), each.expected],
};

/** Inputs, and the CBOR of what they spend. */
const unpaid: CborShape<{ readonly inputs: readonly OutRef[]; readonly outputs?: readonly string[] }> = {
  read(item, at) {
    const entries = as(item, "map").value;
    return {
      inputs: entries.map(([ref]) => reference.read(ref, at)),
      outputs: entries.map(([, of]) => readOutputAt(of).output),
    };
  },
  write: ({ inputs, outputs = [] }, at) =>
    sentMap(
      inputs.map((ref, i) => [reference.write(ref, at), knownCbor.write(outputs[i], at)]),
    ),
};

/**
 * Every failure of these rules. Numbers and order of data are those of the ledger's encoders; some state the expected
 * value first.
 */
export const transactionFailures = [
  // LEDGER
  fieldsCodec([4], "ConwayWdrlNotDelegatedToDRep", { keys: listOf(hex) }),
  fieldsCodec([5], "ConwayTreasuryValueMismatch", lovelaceSwapped),
  fieldsCodec([6], "ConwayTxRefScriptsSizeTooBig", { supplied: integer, expected: integer }),
  fieldsCodec([7], "ConwayMempoolFailure", { message: text }),
  fieldsCodec([8], "ConwayWithdrawalsMissingAccounts", { withdrawals }),
  fieldsCodec([9], "ConwayIncompleteWithdrawals", { withdrawals: mismatchedWithdrawals }),

  fieldsCodec([...UTXOW, 1], "InvalidWitnessesUTXOW", { keys: listOf(hex) }),
  fieldsCodec([...UTXOW, 2], "MissingVKeyWitnessesUTXOW", { keys: hashes }),
  fieldsCodec([...UTXOW, 3], "MissingScriptWitnessesUTXOW", { scripts: hashes }),
  fieldsCodec([...UTXOW, 4], "ScriptWitnessNotValidatingUTXOW", { scripts: hashes }),
  fieldsCodec([...UTXOW, 5], "MissingTxBodyMetadataHash", { hash: hex }),
  fieldsCodec([...UTXOW, 6], "MissingTxMetadata", { hash: hex }),
  fieldsCodec([...UTXOW, 7], "ConflictingMetadataHash", { supplied: hex, expected: hex }),
  fieldsCodec([...UTXOW, 8], "InvalidMetadata", {}),
  fieldsCodec([...UTXOW, 9], "ExtraneousScriptWitnessesUTXOW", { scripts: hashes }),
  fieldsCodec([...UTXOW, 10], "MissingRedeemers", { redeemers: listOf(missingRedeemer) }),
  fieldsCodec([...UTXOW, 11], "MissingRequiredDatums", { missing: hashes, received: hashes }),
  fieldsCodec([...UTXOW, 12], "NotAllowedSupplementalDatums", { unallowed: hashes, acceptable: hashes }),
  fieldsCodec([...UTXOW, 13], "PPViewHashesDontMatch", { supplied: maybeHash, expected: maybeHash }),
  fieldsCodec([...UTXOW, 14], "UnspendableUTxONoDatumHash", { inputs: references }),
  fieldsCodec([...UTXOW, 15], "ExtraRedeemers", { redeemers: listOf(pointer) }),
  fieldsCodec([...UTXOW, 16], "MalformedScriptWitnesses", { scripts: hashes }),
  fieldsCodec([...UTXOW, 17], "MalformedReferenceScripts", { scripts: hashes }),
  customCodec(
    [...UTXOW, 18],
    "ScriptIntegrityHashMismatch",
    2,
    (hashes, preimage) => {
      const known = maybeHash.read(preimage, UNVERSIONED);
      return { ...pair(maybeHash).read(hashes, UNVERSIONED), ...(known === undefined ? {} : { preimage: known }) };
    },
    ({ supplied, expected, preimage }) => [
      pair(maybeHash).write({ supplied, expected }, UNVERSIONED),
      maybeHash.write(preimage, UNVERSIONED),
    ],
  ),

  fieldsCodec([...UTXO, 1], "BadInputsUTxO", { inputs: references }),
  customCodec(
    [...UTXO, 2],
    "OutsideValidityIntervalUTxO",
    2,
    (bounds, slot) => ({ ...interval.read(bounds, UNVERSIONED), slot: count.read(slot, UNVERSIONED) }),
    (failure) => [interval.write(failure, UNVERSIONED), failure.slot],
  ),
  fieldsCodec([...UTXO, 3], "MaxTxSizeUTxO", { supplied: integer, expected: integer }),
  fieldsCodec([...UTXO, 4], "InputSetEmptyUTxO", {}),
  fieldsCodec([...UTXO, 5], "FeeTooSmallUTxO", lovelaceSwapped),
  fieldsCodec([...UTXO, 6], "ValueNotConservedUTxO", { consumed: value, produced: value }),
  fieldsCodec([...UTXO, 7], "WrongNetwork", { expected: count, addresses: hashes }),
  fieldsCodec([...UTXO, 8], "WrongNetworkWithdrawal", { expected: count, accounts }),
  fieldsCodec([...UTXO, 9], "OutputTooSmallUTxO", { outputs: listOf(outputAt) }),
  fieldsCodec([...UTXO, 10], "OutputBootAddrAttrsTooBig", { outputs: listOf(outputAt) }),
  fieldsCodec([...UTXO, 11], "OutputTooBigUTxO", { outputs: listOf(bigOutput) }),
  fieldsCodec([...UTXO, 12], "InsufficientCollateral", lovelace),
  itemCodec([...UTXO, 13], "ScriptsNotPaidUTxO", unpaid),
  fieldsCodec([...UTXO, 14], "ExUnitsTooBigUTxO", { expected: units, supplied: units }),
  fieldsCodec([...UTXO, 15], "CollateralContainsNonADA", { value }),
  fieldsCodec([...UTXO, 16], "WrongNetworkInTxBody", { expected: count, supplied: count }),
  fieldsCodec([...UTXO, 17], "OutsideForecast", { slot: count }),
  fieldsCodec([...UTXO, 18], "TooManyCollateralInputs", { expected: count, supplied: count }),
  fieldsCodec([...UTXO, 19], "NoCollateralInputs", {}),
  fieldsCodec([...UTXO, 20], "IncorrectTotalCollateralField", lovelaceSwapped),
  fieldsCodec([...UTXO, 21], "BabbageOutputTooSmallUTxO", { outputs: listOf(smallOutput) }),
  fieldsCodec([...UTXO, 22], "BabbageNonDisjointRefInputs", { inputs: listOf(reference) }),

  customCodec(
    [...UTXOS, 0],
    "ValidationTagMismatch",
    2,
    (_, why) => {
      const [kind, reasons] = list(why);
      if (asInt(kind) === 0n) return { kind: "PassedUnexpectedly" as const };
      const scripts = list(reasons).map((reason) => {
        const [, description, context] = list(reason);
        return { description: text.read(description, UNVERSIONED), context: hex.read(context, UNVERSIONED) };
      });
      return {
        kind: "FailedUnexpectedly" as const,
        message: scripts[0]?.description ?? "",
        logs: scripts.slice(1).map(({ description }) => description),
        scripts,
      };
    },
    (failure) => {
      if (failure.kind === "PassedUnexpectedly") return [false, [0]];
      const { message, logs } = failure;
      const scripts = failure.scripts ?? [{ description: [message, ...logs].join("\n"), context: "" }];
      const reasons = scripts.map(({ description, context }) => [1, description, hex.write(context, UNVERSIONED)]);
      return [true, [1, sentList(reasons)]];
    },
  ),
  fieldsCodec([...UTXOS, 1], "CollectErrors", { errors: listOf(collectError) }),
];
