import fc from "fast-check";
import { expect, test } from "vitest";
import { type Json, parseJson, toJson } from "#src/base/json.ts";
import { unchanged } from "#src/ledger/registry.ts";
import { ChangeSet, writeEntries } from "#src/devnet/ledger/changes.ts";
import { changesFromJson, changesToJson } from "#src/devnet/ledger/entries.ts";
import { parametersFromJson, parametersToJson } from "#src/devnet/genesis/parametersJson.ts";
import { fromPlain, toPlain } from "#src/devnet/ledger/plainJson.ts";
import { type Applied, applyDelta, type Change } from "#src/ledger/delta.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { type Account, type MutableLedgerState, newState, type Pool } from "#src/ledger/state.ts";

const overTheWire = (json: Json) => parseJson(toJson(json));

test("parameters come back from their JSON", () => {
  expect(parametersFromJson(overTheWire(parametersToJson(mainnetParameters)))).toEqual(mainnetParameters);
});

test("plain values are restored exactly", () => {
  const leaf = fc.oneof(
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
    fc.uint8Array({ maxLength: 8 }),
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
  );
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ depthSize: "small" }, leaf, fc.array(tie("any"), { maxLength: 3 }), tie("record"), tie("map")),
    record: fc.dictionary(fc.constantFrom("a", "b", "lovelace"), tie("any"), { noNullPrototype: true }),
    map: fc.array(fc.tuple(fc.string(), leaf), { maxLength: 3 }).map((entries) => new Map(entries)),
  })).any;
  fc.assert(fc.property(value, (value) => {
    expect(fromPlain(overTheWire(toPlain(value)))).toEqual(value);
  }));
});

const account = fc.record({ deposit: fc.bigInt({ min: 0n, max: 9n }), balance: fc.bigInt({ min: 0n, max: 9n }) });
const pool = fc.record({ certificate: fc.uint8Array({ maxLength: 4 }), deposit: fc.constant(500n) });

/** A transaction that sets or removes rows of a state. */
function applied(
  state: MutableLedgerState,
  rows: { accounts: [string, Account | null][]; pools: [string, Pool | null][]; fee: bigint },
): Applied {
  const change = <V>(table: { get(key: string): V | undefined }, entries: [string, V | null][]): Change<V>[] =>
    [...new Map(entries)].map(([key, after]) => ({ key, before: table.get(key), after: after ?? undefined }));
  return {
    hash: "",
    valid: true,
    fee: rows.fee,
    spent: [],
    created: [],
    ...unchanged,
    accounts: change(state.accounts, rows.accounts),
    pools: change(state.pools, rows.pools),
    deposits: rows.fee,
    donation: 0n,
    size: 0,
    units: { memory: 0n, steps: 0n },
    refScriptBytes: 0,
  };
}

const key = fc.constantFrom("k1", "k2", "s3");
const transaction = fc.record({
  accounts: fc.array(fc.tuple(key, fc.option(account)), { maxLength: 3 }),
  pools: fc.array(fc.tuple(key, fc.option(pool)), { maxLength: 2 }),
  fee: fc.bigInt({ min: 0n, max: 9n }),
});

test("a block's changes give the state after it, and undone the state before", () => {
  const view = ({ accounts, pools, pots }: MutableLedgerState) => structuredClone({ accounts, pools, pots });
  fc.assert(fc.property(fc.array(fc.array(transaction, { maxLength: 3 }), { maxLength: 5 }), (blocks) => {
    const stepwise = newState({ parameters: mainnetParameters });
    const stored = newState({ parameters: mainnetParameters });
    const done = blocks.map((block) => {
      const before = view(stepwise);
      const gathered = new ChangeSet(stepwise);
      for (const rows of block) {
        const delta = applied(stepwise, rows);
        applyDelta(stepwise, delta);
        gathered.addTransaction(delta);
      }
      const changes = changesFromJson(overTheWire(changesToJson(gathered.list())));
      writeEntries(stored, changes, "after");
      expect(view(stored)).toEqual(view(stepwise));
      return { before, changes };
    });
    for (const { before, changes } of done.reverse()) {
      writeEntries(stored, changes, "before");
      expect(view(stored)).toEqual(before);
    }
  }));
});
