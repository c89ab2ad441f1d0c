/**
 * Votes, proposals and the treasury in the contexts of Plutus V3: cardano-ledger `Conway/TxInfo.hs`
 * (`transVotingProcedures`, `transProposal`, `transGovAction`), `Plutus/ToPlutusData.hs` for changed parameters,
 * plutus-ledger-api `V3/Contexts.hs` and plutus-tx `Ratio.hs`.
 */
import { describe, expect, it } from "vitest";
import type { Encodable } from "#src/cardano/cbor.ts";
import { type Constr, constr, type Data, DataMap } from "#src/cardano/data.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { tagged, World } from "../../support/ledger/draft.ts";
import { field, hash, just, key, nothing, script, shown } from "../../support/plutus/draftContexts.ts";

const K = "0a".repeat(28);
const S = "0b".repeat(28);
const ID = "0c".repeat(32);
const anchor: Encodable = ["https://example.org", hash("0e".repeat(32))];
const accountOf = (kind: "key" | "script", of: string) => Uint8Array.of(kind === "key" ? 0xe0 : 0xf0, ...hash(of));
const previous = just(constr(0, hash(ID), 300n));
const proposal = (action: Encodable): Encodable => [9, accountOf("key", K), action, anchor];

function actionOf(action: Encodable): Data {
  const proposals = field(3, "proposals", new World(), { fields: { 20: [proposal(action)] } }) as Constr[];
  const [deposit, account, seen] = proposals[0]!.fields;
  expect([proposals.length, deposit, account]).toEqual([1, 9n, key(K)]);
  return seen!;
}

describe("actions", () => {
  const ratio = (above: number, below: number) => tagged(30, [above, below]);
  it.each<[string, Encodable, Data]>([
    ["a hard fork", [1, [hash(ID), 300], [11, 2]], constr(1, previous, constr(0, 11n, 2n))],
    ["a hard fork that follows nothing", [1, null, [11, 0]], constr(1, nothing, constr(0, 11n, 0n))],
    [
      "payments, by scripts before keys, and their script",
      [2, new Map([[accountOf("key", K), 1], [accountOf("key", S), 3], [accountOf("script", S), 2]]), hash(S)],
      constr(2, new DataMap([[script(S), 2n], [key(K), 1n], [key(S), 3n]]), just(hash(S))),
    ],
    ["no payments", [2, new Map(), null], constr(2, new DataMap([]), nothing)],
    ["no confidence", [3, [hash(ID), 300]], constr(3, previous)],
    [
      "a committee, by scripts before keys, with a quorum in lowest terms",
      [
        4,
        null,
        [[0, hash(K)], [1, hash(S)]],
        new Map<Encodable, Encodable>([[[0, hash(S)], 5], [[1, hash(K)], 6]]),
        ratio(4, 6),
      ],
      constr(4, nothing, [script(S), key(K)], new DataMap([[script(K), 6n], [key(S), 5n]]), constr(0, 2n, 3n)),
    ],
    ["a constitution", [5, null, [anchor, hash(S)]], constr(5, nothing, constr(0, just(hash(S))))],
    ["one without a script", [5, [hash(ID), 300], [anchor, null]], constr(5, previous, constr(0, nothing))],
    ["an information", [6], constr(6)],
  ])("%s", (_, action, expected) => expect(actionOf(action)).toEqual(expected));

  it("changes of parameters are a map by number, fractions in it are lists in lowest terms", () => {
    const tenths = Array.from({ length: 10 }, (_, i) => ratio(i, 10));
    const changes = new Map<Encodable, Encodable>([
      [33, ratio(30, 2)],
      [0, 44],
      [9, ratio(6, 4)],
      [10, ratio(0, 7)],
      [18, new Map<Encodable, Encodable>([[2, [1, -2]], [0, [3]], [200, []]])],
      [19, [ratio(2, 4), ratio(3, 9)]],
      [20, [1, 2]],
      [25, tenths.slice(0, 5)],
      [26, tenths],
      [32, 5],
    ]);
    const lists = (count: number) =>
      [[0n, 1n], [1n, 10n], [1n, 5n], [3n, 10n], [2n, 5n], [1n, 2n], [3n, 5n], [7n, 10n], [4n, 5n], [9n, 10n]]
        .slice(0, count);
    expect(actionOf([0, null, changes, hash(S)])).toEqual(constr(
      0,
      nothing,
      new DataMap([
        [0n, 44n],
        [9n, [3n, 2n]],
        [10n, [0n, 1n]],
        [18n, new DataMap([[0n, [3n]], [2n, [1n, -2n]], [200n, []]])],
        [19n, [[1n, 2n], [1n, 3n]]],
        [20n, [1n, 2n]],
        [25n, lists(5)],
        [26n, lists(10)],
        [32n, 5n],
        [33n, [15n, 1n]],
      ]),
      just(hash(S)),
    ));
  });

  it.each<[string, Encodable]>([
    ["a parameter that Conway does not know", new Map<Encodable, Encodable>([[14, [9, 0]]])],
    ["a number past its bits", new Map<Encodable, Encodable>([[23, 65_536]])],
    ["a share of more than one", new Map<Encodable, Encodable>([[11, ratio(3, 2)]])],
    ["thresholds of another count", new Map<Encodable, Encodable>([[25, [ratio(1, 2)]]])],
    ["a cost past 64 bits", new Map<Encodable, Encodable>([[18, new Map<Encodable, Encodable>([[0, [1n << 63n]]])]])],
  ])("%s is refused by the decoder, before anything is translated", (_, changes) => {
    const bytes = new World().write({ fields: { 20: [proposal([0, null, changes, null])] } });
    expect(readTransaction(bytes)).toMatchObject({ ok: false, error: { code: "undecodable" } });
  });

  it("have a purpose with their index and their whole content", () => {
    const draft = {
      fields: { 20: [proposal([6]), proposal([2, new Map([[accountOf("key", K), 1]]), hash(S)])] },
      redeemers: [[5, 1]] as const,
    };
    const [context] = shown(3, new World(), draft, { purpose: "propose", index: 1 }) as [Constr];
    const all = (context.fields[0] as Constr).fields[13] as Constr[];
    expect(all.map(({ fields }) => (fields[2] as Constr).tag)).toEqual([6, 2]);
    expect(context.fields[2]).toEqual(constr(5, 1n, all[1]!));
    expect(((context.fields[0] as Constr).fields[9] as DataMap).entries).toEqual([[constr(5, 1n, all[1]!), 0n]]);
  });
});

describe("votes", () => {
  const votes = (...entries: (readonly [action: readonly [string, number], vote: number])[]) =>
    new Map<Encodable, Encodable>(entries.map(([[id, index], vote]) => [[hash(id), index], [vote, anchor]]));
  const one = votes([[ID, 0], 1]);
  const draft = {
    fields: {
      19: new Map<Encodable, Encodable>([
        [[4, hash(K)], one],
        [[2, hash(K)], one],
        [[3, hash(S)], votes([[ID, 10], 2], [[ID, 2], 0], [["0b".repeat(32), 99], 1])],
        [[0, hash(K)], one],
        [[1, hash(S)], one],
      ]),
    },
    redeemers: [[4, 0], [4, 2]] as const,
  };
  const action = (id: string, index: bigint) => constr(0, hash(id), index);
  const [no, yes, abstain] = [constr(0), constr(1), constr(2)];
  const only = new DataMap([[action(ID, 0n), yes]]);

  it("are ordered by committee, DReps and pools, in each by scripts before keys, then by action, with the index as a number", () => {
    const [context] = shown(3, new World(), draft, { purpose: "vote", index: 2 }) as [Constr];
    expect((context.fields[0] as Constr).fields[12]).toEqual(
      new DataMap([
        [constr(0, script(S)), only],
        [constr(0, key(K)), only],
        [
          constr(1, script(S)),
          new DataMap([[action("0b".repeat(32), 99n), yes], [action(ID, 2n), no], [action(ID, 10n), abstain]]),
        ],
        [constr(1, key(K)), only],
        [constr(2, hash(K)), only],
      ]),
    );
  });
  it("have the voter as their purpose", () => {
    const [context] = shown(3, new World(), draft, { purpose: "vote", index: 2 }) as [Constr];
    expect(context.fields[2]).toEqual(constr(4, constr(1, script(S))));
    expect((context.fields[0] as Constr).fields[9]).toEqual(
      new DataMap([[constr(4, constr(0, script(S))), 0n], [constr(4, constr(1, script(S))), 0n]]),
    );
  });
});

describe("the treasury", () => {
  it("is shown as stated, also if it is empty, and so is a donation", () => {
    const world = new World();
    const seen = (fields: Record<number, Encodable>) =>
      (["treasury", "donation"] as const).map((name) => field(3, name, world, { fields }));
    expect(seen({})).toEqual([nothing, nothing]);
    expect(seen({ 21: 0 })).toEqual([just(0n), nothing]);
    expect(seen({ 21: 7, 22: 8 })).toEqual([just(7n), just(8n)]);
  });
});
