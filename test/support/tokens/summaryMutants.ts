/** Transactions with random changes, judged against the intent of the original. */
import { expect } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { messaged, toJson } from "#src/base/json.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { decodeDatum } from "#src/contract/datum.ts";
import { compareRefs, type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { requireIntent } from "#src/client/summary.ts";
import { mutated } from "../ledger/editableTransactions.ts";
import { seeded } from "../base/seededRandom.ts";
import type { Meant } from "./summaries.ts";

/** A datum except what a request offers, which has a limit. */
function datum(cbor: Uint8Array): string {
  const read = decodeDatum(cbor);
  return read?.type === "request" ? toJson(messaged({ ...read.request, fee: 0n })) : toHex(cbor);
}

/** The content of a transaction according to another decoder; undefined if that decoder rejects it. */
function effect(bytes: Uint8Array): string | undefined {
  const refs = (list: readonly OutRef[]) => [...list].sort(compareRefs).map(refKey);
  const output = (one: Output) => [
    one.address,
    one.value.lovelace,
    [...one.value.assets].sort(),
    one.datum ? datum(one.datum) : null,
    one.datumHash ?? null,
    one.script ? toHex(one.script) : null,
  ];
  try {
    const read = scanTransaction(bytes);
    return toJson([
      read.valid,
      refs(read.inputs),
      refs(read.collateral),
      refs(read.references),
      read.outputs.map(output),
      read.collateralReturn ? output(read.collateralReturn) : null,
      read.totalCollateral ?? null,
      read.fee,
      [...read.mint].sort(),
      read.validFrom ?? null,
      [...read.withdrawals],
      read.certificates.length,
      [...read.requiredSigners].sort(),
      read.auxiliaryData ? toHex(read.auxiliaryData) : null,
    ]);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return undefined;
  }
}

function mutatedAgain(mutant: Uint8Array, random: () => number): Uint8Array {
  try {
    return mutated(mutant, random);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return mutant;
  }
}

/**
 * Judges this many mutants: those that are accepted for the intent must do the same according to the other decoder,
 * within the limits of the intent. Returns how many were valid transactions, and how many were accepted.
 */
export async function judgeMutants(
  meant: Meant,
  rounds: number,
  seed: number,
): Promise<{ readonly decodable: number; readonly taken: number }> {
  const before = effect(meant.transaction);
  const random = seeded(seed);
  let [decodable, taken] = [0, 0];
  for (let i = 0; i < rounds; i++) {
    let mutant = mutated(meant.transaction, random);
    if (i % 3 === 0) mutant = mutatedAgain(mutant, random);
    const checked = await requireIntent(mutant, meant.intent, { resolve: () => meant.known });
    if (!checked.ok && checked.error.code === "undecodable") continue;
    decodable++;
    if (!checked.ok) continue;
    taken++;
    expect(effect(mutant)).toBe(before);
    expect(checked.value.requests.every(({ offered }) => offered <= meant.intent.maxOffered!)).toBe(true);
    expect(scanTransaction(mutant).validTo).toBeLessThanOrEqual(meant.built.validTo);
  }
  return { decodable, taken };
}
