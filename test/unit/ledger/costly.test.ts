/** Transactions that are costly to refuse: the event loop runs in the meantime, and the refusal stays short. */
import { setImmediate } from "node:timers";
import { describe, expect, it } from "vitest";
import { describeFailure } from "#src/cardano/failureText.ts";
import { addValues, lovelace, sumValues, type Value } from "#src/cardano/value.ts";
import { boundedSum } from "#src/ledger/rules/sums.ts";
import { cases } from "../../support/base/longTests.ts";
import { costlyTransactions } from "../../support/ledger/costlyTransactions.ts";

const { world, transactions } = costlyTransactions(cases(40, Infinity));

/** The rules' verdict, and how often the event loop ran until then. */
async function judged(bytes: Uint8Array) {
  let turns = 0;
  let ended = false;
  const tick = () => {
    turns++;
    if (!ended) setImmediate(tick);
  };
  setImmediate(tick);
  const verdict = await world.judge(bytes);
  ended = true;
  return { failures: "hash" in verdict ? [] : verdict, turns };
}

describe("a transaction of 16 kB", () => {
  it.each(transactions.map(({ name, bytes }) => [name, bytes] as const))(
    "with %s is refused with a short message",
    async (_, bytes) => {
      const { failures } = await judged(bytes);
      expect(failures.length).toBeGreaterThan(0);
      expect(failures.map(({ name }) => name)).not.toContain("DeserialiseFailure");
      expect(failures.map(describeFailure).join().length).toBeLessThan(600_000);
    },
  );

  it.each(["inputs of 980 assets", "collateral of 980 assets"])(
    "with %s lets the event loop run",
    async (wanted) => {
      const { turns, failures } = await judged(transactions.find(({ name }) => name === wanted)!.bytes);
      expect(turns).toBeGreaterThan(0);
      expect(failures.map(({ name }) => name)).toContain("ValueNotConservedUTxO");
    },
  );
});

describe("sums", () => {
  const value = (lovelace: bigint, assets: Record<string, bigint>): Value => ({
    lovelace,
    assets: new Map(Object.entries(assets)),
  });
  const values = [value(5n, { a: 1n, b: 2n }), value(7n, { b: -2n, c: 3n }), value(-1n, { a: 4n }), value(0n, {})];

  it("are those of pairs", () => {
    expect(sumValues(values)).toEqual(values.reduce(addValues, lovelace(0n)));
    expect(sumValues(values)).toEqual(value(11n, { a: 5n, c: 3n }));
    expect(sumValues([])).toEqual(lovelace(0n));
  });

  it("leave the values unchanged", () => {
    const before = structuredClone(values);
    sumValues(values);
    expect(values).toEqual(before);
  });

  it("with a bound contain all expected assets, and at most a thousand others", async () => {
    const many = Array.from(
      { length: 5 },
      (_, i) => value(1n, Object.fromEntries(Array.from({ length: 400 }, (_, j) => [`${i} ${j}`, 1n]))),
    );
    const expected = new Map([["4 399", 9n], ["none", 1n]]);
    const sum = await boundedSum([...many, ...many], expected);
    expect(sum.lovelace).toBe(10n);
    expect(sum.assets.size).toBe(1_001);
    expect(new Set(sum.assets.values())).toEqual(new Set([2n]));
    expect(sum.assets.get("4 399")).toBe(2n);
    expect(await boundedSum(many.slice(0, 2))).toEqual(sumValues(many.slice(0, 2)));
  });
});
