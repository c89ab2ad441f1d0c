import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type Json, parseJson, toJson } from "#src/base/json.ts";
import { unchanged } from "#src/ledger/registry.ts";
import { ChangeSet, type EntryChange, writeEntries } from "#src/devnet/ledger/changes.ts";
import { changesFromJson, changesTexts, changesToJson } from "#src/devnet/ledger/entries.ts";
import { parametersFromJson, parametersToJson } from "#src/devnet/genesis/parametersJson.ts";
import { fromPlain, plainTexts, toPlain } from "#src/devnet/ledger/plainJson.ts";
import { type Applied, applyDelta, type Change } from "#src/ledger/delta.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import { type Account, type MutableLedgerState, newState, type Pool } from "#src/ledger/state.ts";

const overTheWire = (json: Json) => parseJson(toJson(json));

test("parameters come back from their JSON", () => {
  expect(parametersFromJson(overTheWire(parametersToJson(mainnetParameters)))).toEqual(mainnetParameters);
});

const leaf = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
  fc.uint8Array({ maxLength: 8 }),
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);
const plain = fc.letrec((tie) => ({
  any: fc.oneof({ depthSize: "small" }, leaf, fc.array(tie("any"), { maxLength: 3 }), tie("record"), tie("map")),
  record: fc.dictionary(fc.constantFrom("a", "b", "lovelace"), tie("any"), { noNullPrototype: true }),
  map: fc.array(fc.tuple(fc.string(), tie("any")), { maxLength: 3 }).map((entries) => new Map(entries)),
})).any;

test("plain values are restored exactly", () => {
  fc.assert(fc.property(plain, (value) => {
    expect(fromPlain(overTheWire(toPlain(value)))).toEqual(value);
  }));
});

test("the text of a plain value in parts is its text", () => {
  fc.assert(fc.property(plain, (value) => {
    expect([...plainTexts(value)].join("")).toBe(toJson(toPlain(value)));
  }));
});

describe("a change of a stake snapshot", () => {
  const members = fc.nat({ max: 120 }).map((size) =>
    new Map(Array.from({ length: size }, (_, i) => [`k${i}`, BigInt(i)]))
  );
  const many = fc.array(members, { maxLength: 4 });
  const snapshot = fc.record({
    pools: many.map((pools) =>
      new Map(pools.map((members, pool) => [`pool${pool}`, { certificate: new Uint8Array([pool]), members }]))
    ),
    fees: fc.bigInt({ min: 0n, max: 9n }),
  });
  const voting = fc.record({
    votes: members.map((of) => new Map([...of.keys()].map((key) => [key, "yes"]))),
    delegators: many.map((dreps) => new Map(dreps.map((of, drep) => [`drep${drep}`, of]))),
  });
  const snapshots = fc.oneof(snapshot, fc.record({ pools: fc.constant(new Map()), fees: fc.constant(0n), voting }));
  const sides = fc.oneof(
    fc.record({ before: snapshots }),
    fc.record({ after: snapshots }),
    fc.record({ before: snapshots, after: snapshots }),
  );
  const other = fc.constant<EntryChange>({ kind: "epoch", key: "", before: 1, after: 2 });
  const changes = fc.array(fc.oneof(other, sides.map((of): EntryChange => ({ kind: "snapshots", key: "5", ...of }))), {
    maxLength: 4,
  });

  it("comes back in the same order, and none of its parts has many entries", () => {
    fc.assert(fc.property(changes, (changes) => {
      const json = changesToJson(changes);
      expect(toPlain(changesFromJson(overTheWire(json)))).toEqual(toPlain(changes));
      expect(parseJson([...changesTexts(changes)].join(""))).toEqual(json);
      for (const part of json as Json[]) expect(toJson(part).match(/\["/g)?.length ?? 0).toBeLessThanOrEqual(52);
    }));
  });

  it("is read where it is one element, as earlier releases wrote it", () => {
    fc.assert(fc.property(changes, (changes) => {
      expect(changesFromJson(overTheWire(toPlain(changes)))).toEqual(changes);
    }));
  });
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
