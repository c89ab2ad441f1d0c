/** Failures of LEDGER itself and of UTXOW, UTXO and UTXOS: signatures, scripts, what a transaction takes and gives. */
import { as, asInt, type Encodable, type Item } from "#src/cardano/cbor.ts";
import type { OutputAt } from "#src/cardano/failure.ts";
import { amount, count, listOf, maybe, sentList, sentMap, text } from "#src/node/queries/shape.ts";
import { hex, reference, units } from "#src/node/queries/vocabulary.ts";
import { AT, leaf, only, special } from "#src/node/rejections/leaf.ts";
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

/** All of some, or undefined when one is not known. */
function all(values: readonly (Encodable | undefined)[]): Encodable | undefined {
  const known = values.filter((each) => each !== undefined);
  return known.length === values.length ? sentList(known) : undefined;
}

const list = (item: Item) => as(item, "array").value;
const output = ({ output }: OutputAt) => (output === undefined ? undefined : cbor.write(output, AT));

/** Every failure of these rules. Numbers and the order of data are those of the ledger's encoders; some state what was expected first. */
export const transactionLeaves = [
  // LEDGER
  leaf([4], "ConwayWdrlNotDelegatedToDRep", { keys: listOf(hex) }),
  leaf([5], "ConwayTreasuryValueMismatch", lovelaceSwapped),
  leaf([6], "ConwayTxRefScriptsSizeTooBig", { supplied: integer, expected: integer }),
  leaf([7], "ConwayMempoolFailure", { message: text }),
  leaf([8], "ConwayWithdrawalsMissingAccounts", { withdrawals }),
  leaf([9], "ConwayIncompleteWithdrawals", { withdrawals: mismatchedWithdrawals }),

  leaf([...UTXOW, 1], "InvalidWitnessesUTXOW", { keys: listOf(hex) }),
  leaf([...UTXOW, 2], "MissingVKeyWitnessesUTXOW", { keys: hashes }),
  leaf([...UTXOW, 3], "MissingScriptWitnessesUTXOW", { scripts: hashes }),
  leaf([...UTXOW, 4], "ScriptWitnessNotValidatingUTXOW", { scripts: hashes }),
  leaf([...UTXOW, 5], "MissingTxBodyMetadataHash", { hash: hex }),
  leaf([...UTXOW, 6], "MissingTxMetadata", { hash: hex }),
  leaf([...UTXOW, 7], "ConflictingMetadataHash", { supplied: hex, expected: hex }),
  leaf([...UTXOW, 8], "InvalidMetadata", {}),
  leaf([...UTXOW, 9], "ExtraneousScriptWitnessesUTXOW", { scripts: hashes }),
  special(
    [...UTXOW, 10],
    "MissingRedeemers",
    1,
    (item) => ({
      redeemers: list(item!).map((each) => {
        const [what, script] = list(each);
        return { ...target.read(what), script: hex.read(script, AT) };
      }),
    }),
    ({ redeemers }) =>
      only(all(redeemers.map((each) => {
        const what = target.write(each);
        return what === undefined ? undefined : [what, hex.write(each.script, AT)];
      }))),
  ),
  leaf([...UTXOW, 11], "MissingRequiredDatums", { missing: hashes, received: hashes }),
  leaf([...UTXOW, 12], "NotAllowedSupplementalDatums", { unallowed: hashes, acceptable: hashes }),
  leaf([...UTXOW, 13], "PPViewHashesDontMatch", { supplied: maybeHash, expected: maybeHash }),
  leaf([...UTXOW, 14], "UnspendableUTxONoDatumHash", { inputs: references }),
  leaf([...UTXOW, 15], "ExtraRedeemers", { redeemers: listOf(pointer) }),
  leaf([...UTXOW, 16], "MalformedScriptWitnesses", { scripts: hashes }),
  leaf([...UTXOW, 17], "MalformedReferenceScripts", { scripts: hashes }),
  special(
    [...UTXOW, 18],
    "ScriptIntegrityHashMismatch",
    2,
    (hashes, preimage) => {
      const known = maybeHash.read(preimage, AT);
      return { ...pair(maybeHash).read(hashes, AT), ...(known === undefined ? {} : { preimage: known }) };
    },
    ({ supplied, expected, preimage }) => [
      pair(maybeHash).write({ supplied, expected }, AT),
      maybeHash.write(preimage, AT),
    ],
  ),

  leaf([...UTXO, 1], "BadInputsUTxO", { inputs: references }),
  special(
    [...UTXO, 2],
    "OutsideValidityIntervalUTxO",
    2,
    (interval, slot) => {
      const [from, to] = list(interval!).map((bound) => maybe(count).read(bound, AT));
      return {
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to }),
        slot: count.read(slot, AT),
      };
    },
    ({ from, to, slot }) => [[maybe(count).write(from, AT), maybe(count).write(to, AT)], slot],
  ),
  leaf([...UTXO, 3], "MaxTxSizeUTxO", { supplied: integer, expected: integer }),
  leaf([...UTXO, 4], "InputSetEmptyUTxO", {}),
  leaf([...UTXO, 5], "FeeTooSmallUTxO", lovelaceSwapped),
  leaf([...UTXO, 6], "ValueNotConservedUTxO", { consumed: value, produced: value }),
  leaf([...UTXO, 7], "WrongNetwork", { expected: count, addresses: hashes }),
  leaf([...UTXO, 8], "WrongNetworkWithdrawal", { expected: count, accounts }),
  special(
    [...UTXO, 9],
    "OutputTooSmallUTxO",
    1,
    (item) => ({ outputs: list(item!).map((each) => ({ output: readOutputAt(each).output })) }),
    ({ outputs }) => only(all(outputs.map(output))),
  ),
  special(
    [...UTXO, 10],
    "OutputBootAddrAttrsTooBig",
    1,
    (item) => ({ outputs: list(item!).map((each) => ({ output: readOutputAt(each).output })) }),
    ({ outputs }) => only(all(outputs.map(output))),
  ),
  special(
    [...UTXO, 11],
    "OutputTooBigUTxO",
    1,
    (item) => ({
      outputs: list(item!).map((each) => {
        const [supplied, expected, of] = list(each);
        return {
          output: readOutputAt(of).output,
          supplied: integer.read(supplied, AT),
          expected: integer.read(expected, AT),
        };
      }),
    }),
    ({ outputs }) =>
      only(all(outputs.map((each) => {
        const of = output(each);
        return of === undefined ? undefined : [each.supplied, each.expected, of];
      }))),
  ),
  leaf([...UTXO, 12], "InsufficientCollateral", lovelace),
  special(
    [...UTXO, 13],
    "ScriptsNotPaidUTxO",
    1,
    (item) => {
      const entries = as(item, "map").value;
      return {
        inputs: entries.map(([ref]) => reference.read(ref, AT)),
        outputs: entries.map(([, of]) => readOutputAt(of).output),
      };
    },
    ({ inputs, outputs }) =>
      inputs.length === (outputs ?? []).length
        ? [sentMap(inputs.map((ref, i) => [reference.write(ref, AT), cbor.write(outputs![i]!, AT)]))]
        : undefined,
  ),
  leaf([...UTXO, 14], "ExUnitsTooBigUTxO", { expected: units, supplied: units }),
  leaf([...UTXO, 15], "CollateralContainsNonADA", { value }),
  leaf([...UTXO, 16], "WrongNetworkInTxBody", { expected: count, supplied: count }),
  leaf([...UTXO, 17], "OutsideForecast", { slot: count }),
  leaf([...UTXO, 18], "TooManyCollateralInputs", { expected: count, supplied: count }),
  leaf([...UTXO, 19], "NoCollateralInputs", {}),
  leaf([...UTXO, 20], "IncorrectTotalCollateralField", lovelaceSwapped),
  special(
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
      only(all(outputs.map((each) => {
        const of = output(each);
        return of === undefined ? undefined : [of, each.expected];
      }))),
  ),
  leaf([...UTXO, 22], "BabbageNonDisjointRefInputs", { inputs: listOf(reference) }),

  special(
    [...UTXOS, 0],
    "ValidationTagMismatch",
    2,
    (_, why) => {
      const [kind, reasons] = list(why!);
      if (asInt(kind) === 0n) return { kind: "PassedUnexpectedly" as const };
      const scripts = list(reasons!).map((reason) => {
        const [, description, context] = list(reason);
        return { description: text.read(description, AT), context: hex.read(context, AT) };
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
      const reasons = scripts.map(({ description, context }) => [1, description, hex.write(context, AT)]);
      return [true, [1, sentList(reasons)]];
    },
  ),
  special(
    [...UTXOS, 1],
    "CollectErrors",
    1,
    (item) => ({ errors: list(item!).map(collectError.read) }),
    ({ errors }) => only(all(errors.map(collectError.write))),
  ),
];
