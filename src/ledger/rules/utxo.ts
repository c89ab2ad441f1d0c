/** Rule UTXO: inputs, time, size, fee, outputs, networks. */
import { minFee } from "#src/transaction/fee.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import { refKey } from "#src/cardano/output.ts";
import { type Input, type Inputs, refScriptBytes } from "#src/ledger/inputs.ts";
import { checkCollateral } from "#src/ledger/rules/collateral.ts";
import { checkConservation } from "#src/ledger/rules/conservation.ts";
import { checkOutputs } from "#src/ledger/rules/outputs.ts";
import type { LedgerState } from "#src/ledger/state.ts";
import type { Transaction } from "#src/cardano/conway/transaction.ts";

/** Inputs of a transaction, looked up. */
export interface LookedUp {
  readonly inputs: Inputs;
  readonly references: Inputs;
  readonly collateral: Inputs;
}

/** Checks the rule, in the order of the Haskell ledger. */
export async function checkUtxo(
  transaction: Transaction,
  { inputs, references, collateral }: LookedUp,
  state: LedgerState,
  slot: number,
): Promise<LedgerFailure[]> {
  const { body, size, units, witnesses } = transaction;
  const { parameters, network } = state;
  const failures: LedgerFailure[] = [];
  const major = parameters.protocolVersion.major;
  if (major > 8 && major < 11) failures.push(...checkDisjoint(transaction));
  failures.push(...checkInterval(transaction, slot));
  if (body.inputs.length === 0) failures.push({ name: "InputSetEmptyUTxO" });
  failures.push(...checkFee(transaction, inputs.found, references.found, state));
  if (witnesses.redeemers.length > 0) {
    failures.push(...await checkCollateral(body, collateral.found, parameters));
  }
  const missing = [...inputs.missing, ...collateral.missing, ...references.missing];
  if (missing.length > 0) {
    failures.push({ name: "BadInputsUTxO", inputs: [...new Map(missing.map((ref) => [refKey(ref), ref])).values()] });
  }
  failures.push(...await checkConservation(body, inputs.found, state));
  const created = body.collateralReturn ? [...body.outputs, body.collateralReturn] : body.outputs;
  failures.push(...checkOutputs(created, parameters, network));
  const accounts = body.withdrawals.map(({ account }) => account).filter((account) => account.network !== network);
  if (accounts.length > 0) {
    failures.push({ name: "WrongNetworkWithdrawal", expected: network, accounts: accounts.map(({ hex }) => hex) });
  }
  if (body.network !== undefined && body.network !== network) {
    failures.push({ name: "WrongNetworkInTxBody", supplied: body.network, expected: network });
  }
  if (size > parameters.maxTxSize) {
    failures.push({ name: "MaxTxSizeUTxO", supplied: size, expected: parameters.maxTxSize });
  }
  const { maxTxUnits } = parameters;
  if (units.memory > maxTxUnits.memory || units.steps > maxTxUnits.steps) {
    failures.push({ name: "ExUnitsTooBigUTxO", supplied: units, expected: maxTxUnits });
  }
  if (body.collateral.length > parameters.maxCollateralInputs) {
    failures.push({
      name: "TooManyCollateralInputs",
      supplied: body.collateral.length,
      expected: parameters.maxCollateralInputs,
    });
  }
  return failures;
}

/** No output is spent and referred to at once (protocol versions 9 and 10). */
function checkDisjoint({ body }: Transaction): LedgerFailure[] {
  const spent = new Set(body.inputs.map(refKey));
  const both = body.references.filter((ref) => spent.has(refKey(ref)));
  return both.length === 0 ? [] : [{ name: "BabbageNonDisjointRefInputs", inputs: both }];
}

function checkInterval({ body: { from, before } }: Transaction, slot: number): LedgerFailure[] {
  const now = BigInt(slot);
  if ((from === undefined || from <= now) && (before === undefined || now < before)) return [];
  return [{
    name: "OutsideValidityIntervalUTxO",
    slot,
    ...(from === undefined ? {} : { from: Number(from) }),
    ...(before === undefined ? {} : { to: Number(before) }),
  }];
}

function checkFee(
  { body, size, units }: Transaction,
  inputs: readonly Input[],
  references: readonly Input[],
  { parameters }: LedgerState,
): LedgerFailure[] {
  const expected = minFee(parameters, { size, units, refScriptBytes: refScriptBytes(inputs, references) });
  return body.fee >= expected ? [] : [{ name: "FeeTooSmallUTxO", supplied: body.fee, expected }];
}
