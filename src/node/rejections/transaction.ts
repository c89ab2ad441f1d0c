/** Failures of LEDGER, UTXOW, UTXO and UTXOS: signatures, scripts, inputs and outputs. */
import { as, asInt, type Encodable, type Item } from "#src/cardano/cbor.ts";
import type { OutputAt } from "#src/cardano/failure.ts";
import { amount, count, listOf, maybe, sentList, sentMap, text } from "#src/node/queries/shape.ts";
import { hex, reference, units } from "#src/node/queries/vocabulary.ts";
import { customCodec, fieldsCodec, SHAPE_CONTEXT, singleField } from "#src/node/rejections/failureCodec.ts";
import {
  accounts,
  cbor,
  collectError,
  hashes,
  integer,
  mismatchedWithdrawals,
  pair,
  pointer,
  readOutputAt,
  references,
  target,
  value,
  withdrawals,
} from "#src/node/rejections/shapes.ts";

const UTXOW = [1];
const UTXO = [1, 0];
const UTXOS = [1, 0, 0];

const maybeHash = maybe(hex);
const lovelace = { supplied: amount, expected: amount };
const lovelaceSwapped = { expected: amount, supplied: amount };

/** All values, or undefined if one of them is unknown. */
function all(values: readonly (Encodable | undefined)[]): Encodable | undefined {
  const known = values.filter((each) => each !== undefined);
  return known.length === values.length ? sentList(known) : undefined;
}

const list = (item: Item) => as(item, "array").value;
const output = ({ output }: OutputAt) => (output === undefined ? undefined : cbor.write(output, SHAPE_CONTEXT));

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
  customCodec(
    [...UTXOW, 10],
    "MissingRedeemers",
    1,
    (item) => ({
      redeemers: list(item!).map((each) => {
        const [what, script] = list(each);
        return { ...target.read(what), script: hex.read(script, SHAPE_CONTEXT) };
      }),
    }),
    ({ redeemers }) =>
      singleField(all(redeemers.map((each) => {
        const what = target.write(each);
        return what === undefined ? undefined : [what, hex.write(each.script, SHAPE_CONTEXT)];
      }))),
  ),
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
      const known = maybeHash.read(preimage, SHAPE_CONTEXT);
      return { ...pair(maybeHash).read(hashes, SHAPE_CONTEXT), ...(known === undefined ? {} : { preimage: known }) };
    },
    ({ supplied, expected, preimage }) => [
      pair(maybeHash).write({ supplied, expected }, SHAPE_CONTEXT),
      maybeHash.write(preimage, SHAPE_CONTEXT),
    ],
  ),

  fieldsCodec([...UTXO, 1], "BadInputsUTxO", { inputs: references }),
  customCodec(
    [...UTXO, 2],
    "OutsideValidityIntervalUTxO",
    2,
    (interval, slot) => {
      const [from, to] = list(interval!).map((bound) => maybe(count).read(bound, SHAPE_CONTEXT));
      return {
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
        slot: count.read(slot, SHAPE_CONTEXT),
      };
    },
    ({ from, to, slot }) => [[maybe(count).write(from, SHAPE_CONTEXT), maybe(count).write(to, SHAPE_CONTEXT)], slot],
  ),
  fieldsCodec([...UTXO, 3], "MaxTxSizeUTxO", { supplied: integer, expected: integer }),
  fieldsCodec([...UTXO, 4], "InputSetEmptyUTxO", {}),
  fieldsCodec([...UTXO, 5], "FeeTooSmallUTxO", lovelaceSwapped),
  fieldsCodec([...UTXO, 6], "ValueNotConservedUTxO", { consumed: value, produced: value }),
  fieldsCodec([...UTXO, 7], "WrongNetwork", { expected: count, addresses: hashes }),
  fieldsCodec([...UTXO, 8], "WrongNetworkWithdrawal", { expected: count, accounts }),
  customCodec(
    [...UTXO, 9],
    "OutputTooSmallUTxO",
    1,
    (item) => ({ outputs: list(item!).map((each) => ({ output: readOutputAt(each).output })) }),
    ({ outputs }) => singleField(all(outputs.map(output))),
  ),
  customCodec(
    [...UTXO, 10],
    "OutputBootAddrAttrsTooBig",
    1,
    (item) => ({ outputs: list(item!).map((each) => ({ output: readOutputAt(each).output })) }),
    ({ outputs }) => singleField(all(outputs.map(output))),
  ),
  customCodec(
    [...UTXO, 11],
    "OutputTooBigUTxO",
    1,
    (item) => ({
      outputs: list(item!).map((each) => {
        const [supplied, expected, of] = list(each);
        return {
          output: readOutputAt(of).output,
          supplied: integer.read(supplied, SHAPE_CONTEXT),
          expected: integer.read(expected, SHAPE_CONTEXT),
        };
      }),
    }),
    ({ outputs }) =>
      singleField(all(outputs.map((each) => {
        const of = output(each);
        return of === undefined ? undefined : [each.supplied, each.expected, of];
      }))),
  ),
  fieldsCodec([...UTXO, 12], "InsufficientCollateral", lovelace),
  customCodec(
    [...UTXO, 13],
    "ScriptsNotPaidUTxO",
    1,
    (item) => {
      const entries = as(item, "map").value;
      return {
        inputs: entries.map(([ref]) => reference.read(ref, SHAPE_CONTEXT)),
        outputs: entries.map(([, of]) => readOutputAt(of).output),
      };
    },
    ({ inputs, outputs }) =>
      inputs.length === (outputs ?? []).length
        ? [
          sentMap(
            inputs.map((ref, i) => [reference.write(ref, SHAPE_CONTEXT), cbor.write(outputs![i]!, SHAPE_CONTEXT)]),
          ),
        ]
        : undefined,
  ),
  fieldsCodec([...UTXO, 14], "ExUnitsTooBigUTxO", { expected: units, supplied: units }),
  fieldsCodec([...UTXO, 15], "CollateralContainsNonADA", { value }),
  fieldsCodec([...UTXO, 16], "WrongNetworkInTxBody", { expected: count, supplied: count }),
  fieldsCodec([...UTXO, 17], "OutsideForecast", { slot: count }),
  fieldsCodec([...UTXO, 18], "TooManyCollateralInputs", { expected: count, supplied: count }),
  fieldsCodec([...UTXO, 19], "NoCollateralInputs", {}),
  fieldsCodec([...UTXO, 20], "IncorrectTotalCollateralField", lovelaceSwapped),
  customCodec(
    [...UTXO, 21],
    "BabbageOutputTooSmallUTxO",
    1,
    (item) => ({
      outputs: list(item!).map((each) => {
        const [of, expected] = list(each);
        const { output, lovelace } = readOutputAt(of);
        return { output, supplied: lovelace, expected: asInt(expected) };
      }),
    }),
    ({ outputs }) =>
      singleField(all(outputs.map((each) => {
        const of = output(each);
        return of === undefined ? undefined : [of, each.expected];
      }))),
  ),
  fieldsCodec([...UTXO, 22], "BabbageNonDisjointRefInputs", { inputs: listOf(reference) }),

  customCodec(
    [...UTXOS, 0],
    "ValidationTagMismatch",
    2,
    (_, why) => {
      const [kind, reasons] = list(why!);
      if (asInt(kind) === 0n) return { kind: "PassedUnexpectedly" as const };
      const scripts = list(reasons!).map((reason) => {
        const [, description, context] = list(reason);
        return { description: text.read(description, SHAPE_CONTEXT), context: hex.read(context, SHAPE_CONTEXT) };
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
      const reasons = scripts.map(({ description, context }) => [1, description, hex.write(context, SHAPE_CONTEXT)]);
      return [true, [1, sentList(reasons)]];
    },
  ),
  customCodec(
    [...UTXOS, 1],
    "CollectErrors",
    1,
    (item) => ({ errors: list(item!).map(collectError.read) }),
    ({ errors }) => singleField(all(errors.map(collectError.write))),
  ),
];
