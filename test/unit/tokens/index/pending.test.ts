/** Pending transactions that can follow the ledger's state, those that cannot, and those that exclude each other. */
import { expect, test } from "vitest";
import { created, type ScannedTransaction } from "#src/cardano/block.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import type { Rows } from "#src/chain/index/projection.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { chainable } from "#src/tokens/index/pending.ts";
import { buildEnd } from "#src/contract/transactions/end.ts";
import { buildRetract } from "#src/contract/transactions/retract.ts";
import { buildUpdate } from "#src/contract/transactions/update.ts";
import { Forestry } from "#src/forestry/trie.ts";
import { cageAddress, measure, must, op } from "../../../support/contract/contractLedger.ts";
import { alice, asked, bob, OwnedToken } from "../../../support/contract/ownedToken.ts";
import { coin } from "../../../support/wallets/person.ts";

const [one, two] = [asked("one", op.insert("1")), asked("two", op.insert("2"))];
const { state, outputs } = new OwnedToken(new Forestry(), [coin(bob.base, 50_000_000n), one, two]);
const own = outputs.input(alice.base);

function update(from: Utxo, request: Utxo, facts = new Forestry()): ScannedTransaction {
  return scanTransaction(must(buildUpdate({ ...own, state: from, requests: [request] }, facts, measure)).transaction);
}
const stateOf = (transaction: ScannedTransaction): Utxo => created(transaction)[0]!;
const end = (from: Utxo) => scanTransaction(must(buildEnd({ ...own, state: from }, measure)).transaction);
const retract = (request: Utxo) =>
  scanTransaction(must(buildRetract({ ...outputs.input(bob.base), request }, measure)).transaction);

/** The ledger's rows of some outputs. */
const rows = (states: readonly Utxo[], requests: readonly Utxo[]): Rows =>
  new Map(
    [["token_state", states], ["token_request", requests]].map(([table, utxos]) =>
      [table as string, (utxos as readonly Utxo[]).map(({ ref }) => ({ ref: refKey(ref) }))] as const
    ),
  );
const made = (transaction: ScannedTransaction) =>
  created(transaction).filter(({ output }) => output.address === cageAddress).map(({ ref }) => refKey(ref));
const select = (transactions: readonly ScannedTransaction[], ledger: Rows) => {
  const { transactions: kept, conflict } = chainable(transactions, ledger, made);
  return { kept: kept.map(({ hash }) => hash), conflict };
};

test("an update and what follows its state are kept", () => {
  const first = update(state, one);
  const last = end(stateOf(first));
  const back = retract(two);
  expect(select([first, last, back], rows([state], [one, two]))).toEqual({
    kept: [first.hash, last.hash, back.hash],
    conflict: undefined,
  });
});

test("what spends a state or a request that is gone is left out, with what follows it", () => {
  const first = update(state, one);
  const last = end(stateOf(first));
  expect(select([first, last], rows([], [one]))).toEqual({ kept: [], conflict: undefined });
  expect(select([first, last, retract(two)], rows([state], [two]))).toMatchObject({ kept: [expect.any(String)] });
});

test("two that spend the same state, or the same request, are a conflict", () => {
  const [first, other] = [update(state, one), end(state)];
  expect(select([first, other], rows([state], [one]))).toEqual({
    kept: [first.hash],
    conflict: [first.hash, other.hash],
  });
  const back = retract(one);
  expect(select([back, first], rows([state], [one]))).toEqual({ kept: [back.hash], conflict: [back.hash, first.hash] });
});
