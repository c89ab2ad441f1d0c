/** What must hold of every transaction that the product builds, checked from its bytes and the outputs it spends. */
import { expect } from "vitest";
import { as, asInt, decode, entry, raw } from "#src/cardano/cbor.ts";
import { compareRefs, type Output, refKey, type Utxo } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { addAssets, sumValues } from "#src/cardano/value.ts";
import { ledgerSize, minFee } from "#src/transaction/fee.ts";
import { minUtxo } from "#src/transaction/minUtxo.ts";
import { refScriptSize, valueSize } from "#src/transaction/output.ts";

/** Fee, minimum fee and change of a sound transaction. */
export interface Sound {
  readonly fee: bigint;
  readonly least: bigint;
  readonly size: number;
  readonly outputs: readonly Output[];
}

/**
 * Checks a signed transaction against the ledger's arithmetic; `known` are the outputs that it may spend or refer to.
 */
export function expectSound(transaction: Uint8Array, known: readonly Utxo[], parameters: Parameters): Sound {
  const scanned = scanTransaction(transaction);
  const byRef = new Map(known.map((utxo) => [refKey(utxo.ref), utxo.output]));
  const resolve = (refs: typeof scanned.inputs) => refs.map((ref) => byRef.get(refKey(ref))!);
  const inputs = resolve(scanned.inputs);
  const references = resolve(scanned.references);
  const collateral = resolve(scanned.collateral);
  expect([...inputs, ...references, ...collateral].every(Boolean)).toBe(true);
  expect([...scanned.inputs].sort(compareRefs)).toEqual(scanned.inputs);
  expect(new Set(scanned.inputs.map(refKey)).size).toBe(scanned.inputs.length);
  expect(scanned.inputs.filter((ref) => scanned.references.some((other) => compareRefs(ref, other) === 0))).toEqual([]);

  const spent = sumValues(inputs.map(({ value }) => value));
  const made = sumValues(scanned.outputs.map(({ value }) => value));
  expect(made.lovelace + scanned.fee).toBe(spent.lovelace);
  expect(addAssets(addAssets(spent.assets, scanned.mint), made.assets, -1n)).toEqual(new Map());

  for (const output of [...scanned.outputs, ...(scanned.collateralReturn ? [scanned.collateralReturn] : [])]) {
    expect(output.value.lovelace).toBeGreaterThanOrEqual(minUtxo(parameters, output.raw.length));
    expect(valueSize(output.value)).toBeLessThanOrEqual(parameters.maxValueSize);
    expect([...output.value.assets.values()].every((quantity) => quantity > 0n)).toBe(true);
  }

  const units = unitsOf(transaction);
  const refScriptBytes = [...inputs, ...references]
    .reduce((bytes, { script }) => bytes + (script ? refScriptSize(script) : 0), 0);
  const size = ledgerSize(transaction.length);
  const least = minFee(parameters, { size, units, refScriptBytes });
  expect(size).toBeLessThanOrEqual(parameters.maxTxSize);
  expect(scanned.fee).toBeGreaterThanOrEqual(least);

  if (units.memory > 0n) {
    const held = sumValues(collateral.map(({ value }) => value));
    const back = scanned.collateralReturn?.value;
    const total = asInt(entry(decode(scanned.body), 17));
    expect(collateral.length).toBeGreaterThan(0);
    expect(collateral.length).toBeLessThanOrEqual(parameters.maxCollateralInputs);
    expect(total * 100n).toBeGreaterThanOrEqual(scanned.fee * BigInt(parameters.collateralPercentage));
    expect(held.lovelace - (back?.lovelace ?? 0n)).toBe(total);
    expect(addAssets(held.assets, back?.assets ?? new Map(), -1n)).toEqual(new Map());
    expect(units.memory).toBeLessThanOrEqual(parameters.maxTxUnits.memory);
    expect(units.steps).toBeLessThanOrEqual(parameters.maxTxUnits.steps);
  } else expect(collateral).toEqual([]);
  return { fee: scanned.fee, least, size, outputs: scanned.outputs };
}

/** Sum of the units in the redeemers. */
export function unitsOf(transaction: Uint8Array) {
  const redeemers = entry(as(decode(transaction), "array").value[1]!, 5);
  let memory = 0n, steps = 0n;
  for (const [, value] of redeemers ? as(redeemers, "map").value : []) {
    const [, units] = as(value, "array").value;
    const [m, s] = as(units, "array").value;
    memory += asInt(m);
    steps += asInt(s);
  }
  return { memory, steps };
}

/** Fields of the witness set, CBOR by number. */
export function witnessFields(transaction: Uint8Array): Map<number, Uint8Array> {
  const witnesses = as(as(decode(transaction), "array").value[1], "map").value;
  return new Map(witnesses.map(([field, value]) => [Number(asInt(field)), raw(value)]));
}
