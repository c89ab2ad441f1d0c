/** Only what was checked is signed; what is spent is vouched for by the ledger where it is the collateral too. */
import { beforeAll, expect, test } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { initHash } from "#src/cardano/hash.ts";
import { newSeed } from "#src/cardano/keys/signingKey.ts";
import { checkBytes, CheckedTransaction, checkTransaction, signTransaction } from "#src/client/checkedTransaction.ts";
import { fromTransactions } from "#src/client/summary.ts";
import { bound, elements, taken } from "../../support/ledger/editableTransactions.ts";
import { meantTransactions } from "../../support/tokens/summaries.ts";

const all = meantTransactions();
beforeAll(initHash);

test.each(all)(
  "$name is signed once it is checked, and by no other way",
  async ({ transaction, summary, intent, known }) => {
    const unsignedTransaction = toHex(transaction);
    const checked = await checkTransaction({ unsignedTransaction, summary }, intent, { resolve: () => known });
    if (!checked.ok) throw new Error(checked.error.message);
    const signed = signTransaction(checked.value, newSeed());
    expect(signed.hash).toBe(summary.hash);
    expect(signed.cbor).not.toBe(unsignedTransaction);
    expect(checked.value.withSignaturesOf(signed.cbor).cbor).toBe(signed.cbor);
    expect(() => checked.value.withSignaturesOf("84a3008001800200a0f5f6")).toThrow(TypeError);
    const look = { ...checked.value, cbor: unsignedTransaction, hash: summary.hash };
    for (const other of [unsignedTransaction, look, undefined, Object.create(CheckedTransaction.prototype)]) {
      expect(() => signTransaction(other as CheckedTransaction, newSeed())).toThrow(TypeError);
    }
    expect(() => new CheckedTransaction(Symbol("checked"), unsignedTransaction, intent, summary)).toThrow(TypeError);
    // what is spent must be known
    expect(await checkBytes(unsignedTransaction, intent, { resolve: fromTransactions([]) })).toMatchObject({
      ok: false,
    });
  },
);

test("coins that are not all the collateral need another source where others are paid", async () => {
  for (const { transaction, summary, intent, known } of all) {
    if (intent.type !== "apply" && intent.type !== "transfer") continue;
    const answer = { unsignedTransaction: toHex(transaction), summary };
    const own = summary.spends.filter(({ output }) => output?.whose === "requester").map(({ outputRef }) => outputRef);
    const collateral = summary.collateral!.inputs.map(({ outputRef }) => outputRef);
    expect(await checkTransaction(answer, intent)).toMatchObject({ ok: own.join() === collateral.join() });
    const edited = taken(transaction);
    elements(edited.body, 13n).splice(0, 1, [new Uint8Array(32).fill(9), 0n]);
    const elsewhere = { ...answer, unsignedTransaction: toHex(bound(edited)) };
    expect(await checkTransaction(elsewhere, intent, { resolve: () => known })).toMatchObject({ ok: false });
  }
});
