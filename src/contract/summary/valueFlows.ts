/** Where a transaction's value comes from and goes to, by address, and how much collateral is at risk. */
import { paymentKeyHash } from "#src/cardano/address.ts";
import { type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import { addValues, lovelace, sameValue, sumValues, type Value, ValueSum } from "#src/cardano/value.ts";
import type { Summary } from "#src/contract/summary/schema.ts";
import {
  addressTextOf,
  describeAssets,
  describeInput,
  describeOutput,
  isOwn,
  type KnownOutputs,
  partyOf,
  type Viewer,
} from "#src/contract/summary/outputs.ts";
import type { ReadTransaction } from "#src/contract/summary/readTransaction.ts";

/** The outputs that inputs refer to; undefined for an output that is not resolved. */
function outputsOf(refs: readonly OutRef[], known: KnownOutputs): (Output | undefined)[] {
  return refs.map((ref) => known.get(refKey(ref)));
}

/** What a transaction spends and makes: if its scripts fail (phase 2), the collateral and the collateral return. */
export function appliedMovements(
  read: ReadTransaction,
): { readonly spends: readonly OutRef[]; readonly makes: readonly Output[] } {
  if (read.valid) return { spends: read.inputs, makes: read.outputs };
  return { spends: read.collateral, makes: read.collateralReturn ? [read.collateralReturn] : [] };
}

/** The balance change of every address, spenders first; and the viewer's if every input is resolved. */
export function addressEffects(
  read: ReadTransaction,
  known: KnownOutputs,
  viewer: Viewer | undefined,
): Pick<Summary, "net" | "effects"> {
  const { spends, makes } = appliedMovements(read);
  const sums = new Map<string, ValueSum>();
  const add = ({ address, value }: Output, sign: 1n | -1n) =>
    sums.set(address, (sums.get(address) ?? new ValueSum()).add(value, sign));
  const inputs = outputsOf(spends, known);
  for (const output of inputs) if (output) add(output, -1n);
  for (const output of makes) add(output, 1n);
  const effect = (value: Value) => ({ lovelace: value.lovelace, assets: describeAssets(value.assets) });
  const complete = viewer !== undefined && !inputs.includes(undefined);
  const own = sumValues([...sums].flatMap(([address, value]) => isOwn(address, viewer) ? [value] : []));
  return {
    net: complete ? effect(own) : null,
    effects: [...sums].map(([address, value]) => ({
      address: addressTextOf(address),
      whose: partyOf(address, viewer),
      ...effect(value),
    })),
  };
}

/** Lovelace paid to the ledger: the fee, or the lost collateral (computed from the resolved inputs if not stated). */
export function paidToLedger(read: ReadTransaction, known: KnownOutputs): bigint {
  if (read.valid) return read.fee;
  if (read.totalCollateral !== undefined) return read.totalCollateral;
  const { spends, makes } = appliedMovements(read);
  const sum = (outputs: readonly (Output | undefined)[]) =>
    outputs.reduce((total, output) => total + (output?.value.lovelace ?? 0n), 0n);
  return sum(outputsOf(spends, known)) - sum(makes);
}

/** Whether inputs equal outputs; null if that cannot be computed here. */
export function isBalanced(read: ReadTransaction, known: KnownOutputs): boolean | null {
  const { spends, makes } = appliedMovements(read);
  const inputs = outputsOf(spends, known);
  const resolved = inputs.filter((output) => output !== undefined);
  if (resolved.length < inputs.length || (read.valid && read.otherMoney)) return null;
  const paid = sumValues(makes.map(({ value }) => value));
  const held = sumValues(resolved.map(({ value }) => value));
  if (!read.valid) {
    return read.totalCollateral === undefined ? null : sameValue(held, addValues(paid, lovelace(read.totalCollateral)));
  }
  return sameValue(addValues(held, { lovelace: 0n, assets: read.mint }), addValues(paid, lovelace(read.fee)));
}

/** The collateral that is lost if a script fails; null if there is none. */
export function describeCollateral(
  read: ReadTransaction,
  known: KnownOutputs,
  viewer: Viewer | undefined,
): Summary["collateral"] {
  const { collateral, collateralReturn, totalCollateral } = read;
  if (collateral.length === 0 && !collateralReturn && totalCollateral === undefined) return null;
  const inputs = outputsOf(collateral, known);
  const mine = (outputs: readonly (Output | undefined)[]) =>
    sumValues(outputs.flatMap((output) => output && isOwn(output.address, viewer) ? [output.value] : [])).lovelace;
  return {
    inputs: collateral.map((ref) => describeInput(ref, known, viewer)),
    total: totalCollateral ?? null,
    return: collateralReturn ? describeOutput(collateralReturn, viewer) : null,
    atRisk: viewer === undefined || inputs.includes(undefined) ? null : mine(inputs) - mine([collateralReturn]),
  };
}

/** The keys that must sign, as far as inputs are resolved, and why; ordered by reason. */
export function neededSigners(
  read: ReadTransaction,
  known: KnownOutputs,
  viewer: Viewer | undefined,
): Summary["signers"] {
  const reasons = new Map<string, Set<Summary["signers"][number]["why"][number]>>();
  const add = (key: string | undefined, why: Summary["signers"][number]["why"][number]) => {
    if (key === undefined) return;
    const known = reasons.get(key);
    if (known) known.add(why);
    else reasons.set(key, new Set([why]));
  };
  const keysOf = (refs: readonly OutRef[]) =>
    outputsOf(refs, known).map((output) => output && paymentKeyHash(output.address));
  for (const key of keysOf(read.inputs)) add(key, "input");
  for (const key of keysOf(read.collateral)) add(key, "collateral");
  for (const key of read.requiredSigners) add(key, "required");
  const own = new Set(viewer && [viewer.address, ...viewer.own].map(paymentKeyHash));
  return [...reasons].map(([key, why]) => ({
    key,
    requester: own.has(key),
    why: [...why],
    signed: read.signatures.has(key),
  }));
}
