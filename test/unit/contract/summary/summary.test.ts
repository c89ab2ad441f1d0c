/** Summaries of transactions: their content, how spent outputs are resolved, and that a false summary is never given. */
import { beforeAll, describe, expect, test } from "vitest";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { parseJson, toJson } from "#src/base/json.ts";
import { type Encodable, encode, Encoded } from "#src/cardano/cbor.ts";
import { initHash } from "#src/cardano/hash.ts";
import { type Output, parseRefKey, refKey } from "#src/cardano/output.ts";
import { encodeOutput, madeOutput } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { buildRequest } from "#src/contract/transactions/request.ts";
import { summarizeTransaction } from "#src/contract/summary/summarize.ts";
import { readTransaction } from "#src/contract/summary/readTransaction.ts";
import {
  checkSummary,
  exactSummary,
  firstOf,
  fromSummary,
  fromTransactions,
  fromUtxos,
  type NotIntended,
  requireIntent,
  type Resolve,
  summarize,
  type Summary,
} from "#src/client/summary.ts";
import { bound, elements, taken } from "../../../support/ledger/editableTransactions.ts";
import { must, Outputs, slots } from "../../../support/contract/contractLedger.ts";
import { alice, bob, hexOf, mallory, type Meant, meantTransactions, text } from "../../../support/tokens/summaries.ts";
import { coin, signed } from "../../../support/wallets/person.ts";

beforeAll(initHash);

const all = meantTransactions();
const byName = (name: string): Meant => all.find((one) => one.name === name)!;
const summaryOf = ({ transaction, known, intent }: Meant, address = intent.address) =>
  summarize(transaction, { resolve: () => known, address }).then((summary) => must(summary));

describe("summaries", () => {
  test.each(all)("of $name add up: nothing is left out", async (meant) => {
    const summary = await summaryOf(meant);
    const sums = new Map<string, bigint>([["lovelace", summary.fee]]);
    const add = (id: string, by: bigint) => sums.set(id, (sums.get(id) ?? 0n) + by);
    for (const { lovelace, assets } of summary.effects) {
      add("lovelace", lovelace);
      for (const [asset, quantity] of Object.entries(assets)) add(asset, quantity);
    }
    for (const { policy, name, quantity } of summary.mints) add(policy + name, -quantity);
    expect([...sums.values()].filter((sum) => sum !== 0n)).toEqual([]);
    expect([summary.balanced, summary.unknown]).toEqual([true, []]);
    expect(summary.signers.filter(({ requester }) => requester)).toHaveLength(1);
    expect(summary).toEqual(meant.summary);
  });

  test("of a request", async () => {
    const meant = byName("update");
    const summary = await summaryOf(meant);
    const [request] = summary.requests;
    expect(request).toEqual({
      index: 0,
      tokenId: "ab".repeat(32),
      policy: expect.stringMatching(/^[0-9a-f]{56}$/),
      change: { type: "update", key: "ключ", oldValue: "", newValue: "ü" },
      owner: bob.key,
      refundAddress: text(bob.base),
      offered: expect.any(BigInt),
      locked: { lovelace: expect.any(BigInt), assets: {} },
    });
    expect(summary.locks).toEqual([{ index: 0, for: "request", tokenId: "ab".repeat(32), amount: request!.locked }]);
    expect(summary.net).toEqual({ lovelace: -request!.locked.lovelace - summary.fee, assets: {} });
    expect(summary.signers).toEqual([{ key: bob.key, requester: true, why: ["input"], signed: false }]);
    expect(summary.pays.map(({ purpose, whose }) => [purpose, whose])).toEqual([
      ["request", "contract"],
      ["change", "requester"],
    ]);
    expect([summary.scripts, summary.collateral, summary.mints, summary.tokens]).toEqual([[], null, [], []]);
  });

  test("of an update, in the ledger's order, for every user", async () => {
    const meant = byName("apply three");
    const summary = await summaryOf(meant);
    const [token] = summary.tokens;
    expect(token!.applies.map(({ outputRef }) => outputRef)).toEqual(
      token!.applies.map(({ outputRef }) => outputRef).sort(),
    );
    expect(Object.fromEntries(token!.applies.map(({ change: { key, ...rest } }) => [key, rest]))).toEqual({
      new: { type: "insert", oldValue: null, newValue: "value" },
      "key 3": { type: "update", oldValue: "value 3", newValue: "other" },
      "key 7": { type: "delete", oldValue: "value 7", newValue: null },
    });
    expect(token).toMatchObject({ owner: { before: alice.key, after: alice.key }, proven: true, skips: [] });
    expect(summary.refunds.map(({ address, lovelace }) => [address, lovelace]).sort()).toEqual([
      [text(bob.base), 2_700_000n],
      [text(bob.enterprise), 3_000_000n],
      [text(alice.base), 2_700_000n],
    ].sort());
    expect(summary.scripts.map(({ redeemer }) => redeemer.type).sort()).toEqual([
      "contribute",
      "contribute",
      "contribute",
      "modify",
    ]);
    const theirs = await summaryOf(meant, text(bob.enterprise));
    expect(theirs.net).toEqual({ lovelace: 3_000_000n, assets: {} });
    expect(theirs.pays.find(({ address }) => address === text(bob.base))!.whose).toBe("requesterKey");
    expect(theirs.signers.some(({ requester }) => requester)).toBe(false);
    expect(theirs.collateral!.atRisk).toBe(0n);
  });

  test("of an update that refuses requests", async () => {
    const meant = byName("apply one and refuse two");
    const summary = await summaryOf(meant);
    const [token] = summary.tokens;
    expect(token).toMatchObject({ proven: true, skips: [] });
    expect(token!.applies.map(({ change: { key } }) => key)).toEqual(["key 3"]);
    expect(token!.refuses!.map(({ change: { key } }) => key).sort()).toEqual(["key 7", "new"]);
    // the whole deposits of those that are refused
    expect(summary.refunds.map(({ lovelace }) => lovelace)).toEqual([3_000_000n, 3_000_000n, 3_000_000n]);
    expect(summary.scripts.map(({ redeemer }) => redeemer.type).sort()).toEqual([
      "contribute",
      "modify",
      "refuse",
      "refuse",
    ]);
    expect(byName("apply one").summary.tokens[0]).not.toHaveProperty("refuses");
  });

  test("of a signed transaction, of slots in time, and of one that fails", async () => {
    const meant = byName("end");
    const read = (transaction: Uint8Array) =>
      summarizeTransaction(readTransaction(transaction), meant.known, { address: alice.base, slots });
    const summary = read(signed(meant.transaction, alice));
    expect(summary.signers).toMatchObject([{ key: alice.key, signed: true }]);
    expect(summary.validity.until).toEqual({
      slot: BigInt(meant.built.validTo),
      time: new Date(slots.zeroTime + 1000 * meant.built.validTo).toISOString(),
    });
    const edited = taken(meant.transaction);
    edited.valid = false;
    const failed = read(bound(edited));
    expect(failed).toMatchObject({ valid: false, tokens: [], mints: [], scripts: [], balanced: true });
    expect(failed.fee).toBe(summary.collateral!.total);
    expect(failed.net).toEqual({ lovelace: -summary.collateral!.total!, assets: {} });
    expect(failed.pays).toEqual([expect.objectContaining({ index: 1, purpose: "change" })]);
  });

  test("of bytes that are no text", async () => {
    const outputs = new Outputs(coin(bob.base, 30_000_000n));
    const input = { ...outputs.input(bob.base), token: "ab".repeat(32) };
    const ask = (key: Uint8Array) => {
      const { transaction } = must(buildRequest({ ...input, key, operation: { type: "insert", value: utf8("v") } }));
      return summarizeTransaction(readTransaction(transaction), new Map()).requests[0]!.change.key;
    };
    expect(ask(Uint8Array.of(0x61, 0xff, 0xc3, 0xbc))).toBe("a\udcffü");
    expect(ask(utf8("deadbeef"))).toBe("deadbeef");
  });

  test("keeps every digit through JSON", async () => {
    const summary = await summaryOf(byName("apply three"));
    const huge = {
      ...summary,
      fee: 2n ** 63n - 1n,
      net: { lovelace: -(2n ** 62n) - 1n, assets: { ab: 2n ** 60n + 1n } },
    };
    expect(exactSummary(parseJson(toJson(huge)))).toEqual(huge);
  });
});

describe("where outputs come from", () => {
  const meant = byName("insert");
  const [ref] = meant.summary.spends;
  const parent = (lovelaceHeld: bigint) => {
    const edited = taken(meant.transaction);
    edited.body.set(1n, [
      new Encoded(encodeOutput({ address: bob.base, value: lovelace(lovelaceHeld) })),
    ]);
    return bound(edited);
  };
  const child = (of: Uint8Array) => {
    const edited = taken(meant.transaction);
    elements(edited.body, 0n).splice(0, 1, [fromHex(readTransaction(of).hash), 0n]);
    return bound(edited);
  };

  test("transactions prove their outputs by their hash", async () => {
    const honest = parent(30_000_000n);
    const spending = child(honest);
    const seen = (transactions: Uint8Array[]) =>
      requireIntent(spending, meant.intent, { resolve: fromTransactions(transactions.map(toHex)) });
    expect(await seen([honest])).toMatchObject({ ok: true });
    // another transaction has another hash
    expect(await seen([parent(90_000_000n)])).toMatchObject({ ok: false });
    expect(await seen([signed(honest, alice)])).toMatchObject({ ok: true });
    expect(await seen([Uint8Array.of(1, 2)])).toMatchObject({ ok: false });
  });

  test("a wallet reports its own", async () => {
    const utxos = [...meant.known].map(([key, { raw }]) => {
      const { txHash, index } = parseRefKey(key);
      return toHex(encode([[fromHex(txHash), index], new Encoded(raw)]));
    });
    const resolve = fromUtxos([...utxos, "00", "nonsense", ""]);
    expect(await requireIntent(hexOf(meant), meant.intent, { resolve })).toMatchObject({ ok: true });
  });

  test("a summary names the source, whatever it is", async () => {
    for (const junk of [null, {}, 5, { spends: 5 }, { spends: [null], references: [{ outputRef: 7 }] }]) {
      expect([...await fromSummary(junk as unknown as Summary)([])]).toEqual([]);
    }
    const answer = { unsignedTransaction: hexOf(meant), summary: meant.summary };
    expect(await checkSummary(answer, meant.intent)).toMatchObject({ ok: true });
    expect(await checkSummary({ ...answer, summary: {} as Summary }, meant.intent)).toMatchObject({ ok: false });
  });

  test("the first source is used", async () => {
    const key = ref!.outputRef.replace("-", "#");
    const other = madeOutput({ address: mallory.base, value: lovelace(1n) });
    const first = firstOf(() => meant.known, () => new Map([[key, other]]), () => {
      throw new Error("nothing was missing");
    });
    expect((await first([parseRefKey(key)])).get(key)).toBe(meant.known.get(key));
  });
});

describe("the claims of an instance", () => {
  /** A value with one leaf changed, for every leaf. */
  function* edited(value: unknown, name = ""): Generator<unknown> {
    if (name === "time" || name === "cbor") return;
    if (Array.isArray(value)) {
      for (const [i, one] of value.entries()) for (const other of edited(one)) yield value.with(i, other);
      yield [...value, null];
      if (value.length > 0) yield value.slice(1);
    } else if (typeof value === "bigint") yield value + 1n;
    else if (typeof value === "number") yield value + 1;
    else if (typeof value === "boolean") yield !value;
    else if (typeof value === "string") yield `${value}0`;
    else if (value === null) yield 0n;
    else if (typeof value === "object") {
      for (const [key, one] of Object.entries(value)) {
        for (const other of edited(one, key)) yield { ...value, [key]: other };
      }
    }
  }

  test.each(all)("of $name are right to the last digit, or refused", async (meant) => {
    const resolve = () => meant.known;
    const unsignedTransaction = hexOf(meant);
    const { summary } = meant;
    expect(await checkSummary({ unsignedTransaction, summary }, meant.intent, { resolve })).toMatchObject({ ok: true });
    let falseClaims = 0;
    for (const falseSummary of edited(summary)) {
      if (falseClaims++ % 5 > 0) continue;
      const checked = await checkSummary({ unsignedTransaction, summary: falseSummary as Summary }, meant.intent, {
        resolve,
      });
      expect(checked).toMatchObject({ ok: false, error: { code: "summary_differs" } });
    }
    expect(falseClaims).toBeGreaterThan(50);
  });

  test("about spent outputs cannot make a theft look like the intent", async () => {
    for (const meant of all) {
      const stolen = coin(meant.intent.address === text(bob.base) ? bob.base : alice.base, 50_000_000n);
      const edited = taken(meant.transaction);
      elements(edited.body, 0n).push([fromHex(stolen.ref.txHash), BigInt(stolen.ref.index)]);
      (edited.body.get(1n) as Encodable[]).push(
        new Encoded(encodeOutput({ address: mallory.base, value: lovelace(50_000_000n) })),
      );
      const transaction = bound(edited);
      const falseClaims: Output[] = [
        stolen.output,
        madeOutput({ address: mallory.base, value: lovelace(50_000_000n) }),
        madeOutput({ address: stolen.output.address, value: lovelace(0n) }),
      ];
      for (const falseSummary of falseClaims) {
        const known = new Map([...meant.known, [refKey(stolen.ref), falseSummary] as const]);
        const summary = must(await summarize(transaction, { resolve: () => known, address: meant.intent.address }));
        const checked = await checkSummary({ unsignedTransaction: toHex(transaction), summary }, meant.intent);
        expect(checked).toMatchObject({ ok: false, error: { code: "not_as_intended" } });
      }
    }
  });

  test("about requests cannot use the owner's lovelace for refunds: false claims about both sides that cancel out", async () => {
    const meant = byName("apply one");
    const read = readTransaction(meant.transaction);
    const request = meant.summary.refunds[0]!.request.replace("-", "#");
    const [own] = meant.summary.spends.filter(({ output }) => output!.whose === "requester");
    const wallet = own!.outputRef.replace("-", "#");
    const [requested, mine] = [meant.known.get(request)!, meant.known.get(wallet)!];
    const more = 20_000_000n;
    const edited = taken(meant.transaction);
    const [state, refund, change] = read.outputs as [Output, Output, Output];
    const pay = ({ address, value }: Output, by: bigint) =>
      new Encoded(encodeOutput({ address, value: { ...value, lovelace: value.lovelace + by } }));
    edited.body.set(1n, [new Encoded(state.raw), pay(refund, more), pay(change, -more)]);
    // its claims about the collateral are true: false ones would be detected
    const [beside, held] = [...meant.known].find(([key, { address }]) => address === mine.address && key !== wallet)!;
    elements(edited.body, 13n).splice(0, 1, [fromHex(beside.slice(0, 64)), BigInt(beside.slice(65))]);
    edited.body.set(16n, pay(held, -read.totalCollateral!));
    const transaction = bound(edited);
    const claim = ({ address, value, datum }: Output, by: bigint) =>
      madeOutput({ address, value: { ...value, lovelace: value.lovelace + by }, datum });
    const falseClaims = new Map([...meant.known, [request, claim(requested, more)], [wallet, claim(mine, -more)]]);
    const summary = must(await summarize(transaction, { resolve: () => falseClaims, address: meant.intent.address }));
    const answer = { unsignedTransaction: toHex(transaction), summary };
    const codes = async (resolve?: Resolve) => {
      const checked = await checkSummary(answer, meant.intent, { resolve });
      if (checked.ok || checked.error.code !== "not_as_intended") return checked;
      return (checked.error.details as NotIntended["details"]).reasons.map(({ code }) => code);
    };
    // it balances for the ledger, and according to the claims
    expect(must(await summarize(transaction, { resolve: () => meant.known })).balanced).toBe(true);
    expect(summary.balanced).toBe(true);
    expect(await codes()).toEqual(["unvouched"]);
    expect(await codes(() => new Map([[wallet, mine]]))).toContain("unbalanced");
    expect(await codes(() => new Map([...meant.known].filter(([, { datum }]) => datum)))).toContain("refund");
    const honest = { unsignedTransaction: hexOf(meant), summary: meant.summary };
    for (const known of [new Map([[wallet, mine]]), new Map([...meant.known].filter(([, { datum }]) => datum))]) {
      expect(await checkSummary(honest, meant.intent, { resolve: () => known })).toMatchObject({ ok: true });
    }
  });
});
