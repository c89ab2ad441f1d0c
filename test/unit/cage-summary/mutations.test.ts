/** Transactions with something in them changed at random: what is still taken for what was meant does the same. */
import { beforeAll, describe, expect, test } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { messaged, toJson } from "#src/base/json.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { decodeDatum } from "#src/cage/datum.ts";
import { initHash } from "#src/cardano/hash.ts";
import { compareRefs, type Output, type OutRef, refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { requireIntent } from "#src/client/summary.ts";
import { mutated } from "../../support/bent_transactions.ts";
import { seeded } from "../../support/random.ts";
import { meantTransactions } from "../../support/summaries.ts";

const ROUNDS = 500;

/** A datum, but for what a request offers, which a limit bounds. */
function datum(cbor: Uint8Array): string {
  const read = decodeDatum(cbor);
  return read?.type === "request" ? toJson(messaged({ ...read.request, fee: 0n })) : toHex(cbor);
}

/** What a transaction does, by another reader; undefined where that one finds no transaction. */
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

beforeAll(initHash);

describe.each(meantTransactions())("$name", (meant) => {
  const before = effect(meant.transaction);
  const validTo = meant.built.validTo;

  test(`${ROUNDS} mutants`, async () => {
    const random = seeded(meant.transaction.length);
    const count = { decodable: 0, same: 0 };
    for (let i = 0; i < ROUNDS; i++) {
      let mutant = mutated(meant.transaction, random);
      if (i % 3 === 0) mutant = mutatedAgain(mutant, random);
      const checked = await requireIntent(mutant, meant.intent, { resolve: () => meant.known });
      if (!checked.ok && checked.error.code === "undecodable") continue;
      count.decodable++;
      if (!checked.ok) continue;
      count.same++;
      expect(effect(mutant)).toBe(before);
      expect(checked.value.requests.every(({ offered }) => offered <= meant.intent.maxOffered!)).toBe(true);
      expect(scanTransaction(mutant).validTo).toBeLessThanOrEqual(validTo);
    }
    // enough of them are transactions, and of those nearly all do something else
    expect(count.decodable).toBeGreaterThan(ROUNDS / 10);
    expect(count.same).toBeLessThan(count.decodable);
    console.log(`${meant.name}: ${count.decodable} of ${ROUNDS} decodable, ${count.same} that do the same`);
  });
});

function mutatedAgain(mutant: Uint8Array, random: () => number): Uint8Array {
  try {
    return mutated(mutant, random);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return mutant;
  }
}
