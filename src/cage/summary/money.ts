/** Where a transaction's money comes from and goes to, address by address, and what is at risk. */
import { paymentKeyHash } from "#src/cardano/address.ts";
import { type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import { addValues, lovelace, sameValue, sumValues, type Value, ValueSum } from "#src/cardano/value.ts";
import type { Summary } from "#src/api/summary.ts";
import { assetsTold, inputTold, type KnownOutputs, outputTold, partyOf, textOf } from "#src/cage/summary/outputs.ts";
import type { ReadTransaction } from "#src/cage/summary/read.ts";

/** Outputs of some inputs; undefined in the place of one that is not known. */
function outputsOf(refs: readonly OutRef[], known: KnownOutputs): (Output | undefined)[] {
  return refs.map((ref) => known.get(refKey(ref)));
}

/** What a transaction spends and makes: where it says that its scripts fail, collateral and what comes back of it. */
export function moved(
  read: ReadTransaction,
): { readonly spends: readonly OutRef[]; readonly makes: readonly Output[] } {
  if (read.valid) return { spends: read.inputs, makes: read.outputs };
  return { spends: read.collateral, makes: read.collateralReturn ? [read.collateralReturn] : [] };
}

/** What every address has more or less of, those that lose first; and the viewer's, where every input is known. */
export function effectsTold(
  read: ReadTransaction,
  known: KnownOutputs,
  viewer: string | undefined,
): Pick<Summary, "net" | "effects"> {
  const { spends, makes } = moved(read);
  const sums = new Map<string, ValueSum>();
  const add = ({ address, value }: Output, sign: 1n | -1n) =>
    sums.set(address, (sums.get(address) ?? new ValueSum()).add(value, sign));
  const inputs = outputsOf(spends, known);
  for (const output of inputs) if (output) add(output, -1n);
  for (const output of makes) add(output, 1n);
  const effect = (value: Value) => ({ lovelace: value.lovelace, assets: assetsTold(value.assets) });
  const complete = viewer !== undefined && !inputs.includes(undefined);
  return {
    net: complete ? effect(sums.get(viewer) ?? lovelace(0n)) : null,
    effects: [...sums].map(([address, value]) => ({
      address: textOf(address),
      whose: partyOf(address, viewer),
      ...effect(value),
    })),
  };
}

/** What goes to the pots: the fee, or the collateral that is forfeited (of all that is known, where it is not stated). */
export function paidTold(read: ReadTransaction, known: KnownOutputs): bigint {
  if (read.valid) return read.fee;
  if (read.totalCollateral !== undefined) return read.totalCollateral;
  const { spends, makes } = moved(read);
  const sum = (outputs: readonly (Output | undefined)[]) =>
    outputs.reduce((total, output) => total + (output?.value.lovelace ?? 0n), 0n);
  return sum(outputsOf(spends, known)) - sum(makes);
}

/** Whether a transaction spends exactly what it pays; null where that cannot be told here. */
export function balancedTold(read: ReadTransaction, known: KnownOutputs): boolean | null {
  const { spends, makes } = moved(read);
  const inputs = outputsOf(spends, known);
  if (inputs.includes(undefined) || (read.valid && read.otherMoney)) return null;
  const paid = sumValues(makes.map(({ value }) => value));
  const held = sumValues(inputs.map((output) => output!.value));
  if (!read.valid) {
    return read.totalCollateral === undefined ? null : sameValue(held, addValues(paid, lovelace(read.totalCollateral)));
  }
  return sameValue(addValues(held, { lovelace: 0n, assets: read.mint }), addValues(paid, lovelace(read.fee)));
}

/** What is forfeited if a script fails. */
export function collateralTold(
  read: ReadTransaction,
  known: KnownOutputs,
  viewer: string | undefined,
): Summary["collateral"] {
  const { collateral, collateralReturn, totalCollateral } = read;
  if (collateral.length === 0 && !collateralReturn && totalCollateral === undefined) return null;
  const inputs = outputsOf(collateral, known);
  const mine = (outputs: readonly (Output | undefined)[]) =>
    sumValues(outputs.flatMap((output) => output && output.address === viewer ? [output.value] : [])).lovelace;
  return {
    inputs: collateral.map((ref) => inputTold(ref, known, viewer)),
    total: totalCollateral ?? null,
    return: collateralReturn ? outputTold(collateralReturn, viewer) : null,
    atRisk: viewer === undefined || inputs.includes(undefined) ? null : mine(inputs) - mine([collateralReturn]),
  };
}

/** Who must sign, as far as inputs are known; in the order of the reasons. */
export function signersTold(
  read: ReadTransaction,
  known: KnownOutputs,
  viewer: string | undefined,
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
  const own = viewer === undefined ? undefined : paymentKeyHash(viewer);
  return [...reasons].map(([key, why]) => ({
    key,
    requester: key === own,
    why: [...why],
    signed: read.signatures.has(key),
  }));
}
