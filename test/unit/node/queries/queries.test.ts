import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { CborError } from "#src/cardano/cbor.ts";
import { epochOfSlot, type EraHistory, horizon, slotOfTime, slotsOfEpoch, timeOfSlot } from "#src/cardano/eras.ts";
import { startTime, systemStart } from "#src/node/queries/history.ts";
import { decodeQuery, encodeQuery, isSupportedBy, type NodeQuery } from "#src/node/queries/query.ts";
import { decodeAnswer, decodeResult, encodeAnswer, encodeResult } from "#src/node/queries/result.ts";
import { queryAndAnswer } from "../../../support/chain/arbitraryQueries.ts";

/** Queries and answers of every version and era, generated once, since that takes longer than drawing from them. */
const somewhere = fc.oneof(
  ...[16, 20, 21, 23].flatMap((version) =>
    ([1, 3, 4, 5, 6, 7] as const).map((era) => queryAndAnswer(version, era).map((given) => ({ version, ...given })))
  ),
);

describe("queries and answers", () => {
  it("are decoded as they were encoded", () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(somewhere, ({ version, query, answer }) => {
        kinds.add(query.kind);
        expect(decodeQuery(encodeQuery(query, version), version)).toEqual(query);
        expect(decodeResult(query, encodeResult(query, answer, version), version)).toEqual(answer);
      }),
      { numRuns: 2_000 },
    );
    expect(kinds.size).toBe(39);
  });

  it("refuse other bytes with a CborError, and nothing else", () => {
    const bend = fc.record({ at: fc.nat(), byte: fc.nat({ max: 255 }), kind: fc.constantFrom("set", "cut", "drop") });
    const mutated = (bytes: Uint8Array, { at, byte, kind }: { at: number; byte: number; kind: string }) => {
      const where = at % Math.max(1, bytes.length);
      if (kind === "cut") return bytes.slice(0, where);
      if (kind === "drop") return Uint8Array.from([...bytes.subarray(0, where), ...bytes.subarray(where + 1)]);
      return Uint8Array.from(bytes, (old, i) => (i === where ? byte : old));
    };
    const counts = { read: 0, refused: 0 };
    const tryIt = (read: () => unknown) => {
      try {
        read();
        counts.read++;
      } catch (error) {
        if (!(error instanceof CborError)) throw error;
        counts.refused++;
      }
    };
    fc.assert(
      fc.property(somewhere, fc.array(bend, { minLength: 1, maxLength: 4 }), ({ version, query, answer }, bends) => {
        const all = (bytes: Uint8Array) => bends.reduce(mutated, bytes);
        tryIt(() => decodeQuery(all(encodeQuery(query, version)), version));
        tryIt(() => decodeResult(query, all(encodeResult(query, answer, version)), version));
      }),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(somewhere, fc.uint8Array(), ({ version, query }, bytes) => {
        tryIt(() => decodeQuery(bytes, version));
        tryIt(() => decodeResult(query, bytes, version));
      }),
      { numRuns: 2_000 },
    );
    expect(counts.read).toBeGreaterThan(100);
    expect(counts.refused).toBeGreaterThan(500);
  });

  it("are decoded if a list has indefinite length, or a new element", () => {
    const query = { kind: "drepState", era: 6, credentials: [] } as const;
    const state = { expiry: 84, anchor: undefined, deposit: 132n, delegators: [] };
    const answer = { ok: true, value: [{ credential: { kind: "key", hash: "84".repeat(28) }, ...state }] } as const;
    const bytes = toHex(encodeResult(query, answer, 23));
    // [{ credential: [expiry, …] }] with a fifth element in the state, whose list follows the credential's 28 bytes
    const at = 2 * (1 + 1 + 2 + 2 + 28);
    expect(bytes.slice(at, at + 2)).toBe("84");
    const longer = bytes.slice(0, at) + "85" + bytes.slice(at + 2) + "f6";
    expect(decodeResult(query, fromHex(longer), 23)).toEqual(answer);
    const indefinite = `8200820082068206d901029f581d${"60".repeat(29)}ff`;
    expect(decodeQuery(fromHex(indefinite), 23))
      .toEqual({ kind: "utxoByAddress", era: 6, addresses: ["60".repeat(29)] });
  });
});

describe("encodeQuery", () => {
  const key = { kind: "key" as const, hash: "0b".repeat(28) };
  const script = { kind: "script" as const, hash: "0c".repeat(28) };

  it.each<[NodeQuery, number, string]>([
    [{ kind: "parameters", era: 6 }, 16, "82008200820681" + "03"],
    [{ kind: "systemStart" }, 16, "8101"],
    [{ kind: "height" }, 16, "8102"],
    [{ kind: "point" }, 16, "8103"],
    [{ kind: "ledgerConfig" }, 20, "8104"],
    [{ kind: "currentEra" }, 16, "820082028101"],
    [{ kind: "eraHistory" }, 16, "820082028100"],
    [{ kind: "eraStart", era: 5 }, 16, "82008301810005"],
    [{ kind: "stakeDistribution", era: 6 }, 20, "8200820082068105"],
    [{ kind: "stakeDistribution", era: 6 }, 21, "820082008206811825"],
    [{ kind: "poolDistribution", era: 6, pools: undefined }, 20, "820082008206821580"],
    [{ kind: "poolDistribution", era: 6, pools: [] }, 21, "82008200820682182481d9010280"],
    [{ kind: "wrapped", era: 6, query: { kind: "epoch", era: 6 } }, 16, "8200820082068209" + "8101"],
  ])("writes %o for version %i", (query, version, bytes) => {
    expect(toHex(encodeQuery(query, version))).toBe(bytes);
  });

  it("writes sets in the ledger's order, each element once, scripts before keys", () => {
    const bytes = encodeQuery({ kind: "stakeDeposits", era: 6, credentials: [key, script, key] }, 23);
    expect(toHex(bytes)).toBe(`82008200820682${"16"}d90102828201581c${script.hash}8200581c${key.hash}`);
  });

  it("writes the tag of a set of Conway's alone where earlier eras have none", () => {
    const inputs = [{ txHash: "ab".repeat(32), index: 300 }, { txHash: "ab".repeat(32), index: 2 }];
    const list = `82825820${"ab".repeat(32)}02825820${"ab".repeat(32)}19012c`;
    expect(toHex(encodeQuery({ kind: "utxoByInput", era: 5, inputs }, 23))).toBe(`82008200820582${"0f"}${list}`);
    expect(toHex(encodeQuery({ kind: "utxoByInput", era: 6, inputs }, 23))).toBe(`82008200820682${"0f"}d90102${list}`);
  });
});

describe("decodeQuery", () => {
  it("gives unknown queries as CBOR", () => {
    const unknown = ["8105", "82008303810000", "8204820000", "8200820382068101"];
    for (const hex of unknown) {
      expect(decodeQuery(fromHex(hex), 23)).toEqual({ kind: "unknown", query: fromHex(hex) });
      expect(toHex(encodeQuery(decodeQuery(fromHex(hex), 23), 23))).toBe(hex);
    }
    const raw = { kind: "raw", era: 6, query: fromHex("821818" + "00") };
    expect(decodeQuery(fromHex("820082008206" + "82181800"), 23)).toEqual(raw);
  });

  it("does not decode a query by the number of another version", () => {
    expect(decodeQuery(fromHex("8200820082068105"), 23)).toMatchObject({ kind: "raw" });
    expect(decodeQuery(fromHex("820082008206811825"), 20)).toMatchObject({ kind: "raw" });
    expect(decodeQuery(fromHex("8104"), 19)).toMatchObject({ kind: "unknown" });
    expect(isSupportedBy({ kind: "ledgerConfig" }, 19)).toBe(false);
    expect(isSupportedBy({ kind: "maxMajorVersion", era: 6 }, 20)).toBe(false);
    expect(isSupportedBy({ kind: "wrapped", era: 6, query: { kind: "maxMajorVersion", era: 6 } }, 21)).toBe(true);
  });
});

describe("encodeResult", () => {
  it("sends over 23 entries with indefinite length", () => {
    const pools = Array.from({ length: 24 }, (_, i) => i.toString(16).padStart(2, "0").repeat(28));
    const of = (count: number) =>
      toHex(encodeResult({ kind: "stakePools", era: 6 }, { ok: true, value: pools.slice(0, count) }, 23));
    expect(of(23).slice(0, 10)).toBe("81d9010297");
    expect(of(24).slice(0, 10)).toBe("81d901029f");
    expect(of(24).slice(-2)).toBe("ff");
    const stake = pools.map((pool) => ({ pool, lovelace: 1n }));
    const query = { kind: "poolStake", era: 6, pools: [] } as const;
    expect(toHex(encodeResult(query, { ok: true, value: stake }, 23)).slice(0, 8)).toBe("81bf581c");
  });

  it("gives the bytes that a wrapped query is answered with", () => {
    const query = { kind: "accountState", era: 6 } as const;
    const bytes = encodeAnswer(query, { treasury: 5n, reserves: 7n }, 23);
    const wrapped = { kind: "wrapped", era: 6, query } as const;
    const result = encodeResult(wrapped, { ok: true, value: bytes }, 23);
    expect(toHex(result)).toBe("81d81843820507");
    expect(decodeResult(wrapped, result, 23)).toEqual({ ok: true, value: bytes });
    expect(decodeAnswer(query, bytes, 23)).toEqual({ treasury: 5n, reserves: 7n });
  });

  it("refuses a distribution without the stake that version 21 states", () => {
    const pools = [{ pool: "0b".repeat(28), share: { numerator: 1n, denominator: 2n }, stake: undefined, vrf: "" }];
    const query = { kind: "stakeDistribution", era: 6 } as const;
    expect(() => encodeResult(query, { ok: true, value: { pools, total: undefined } }, 21)).toThrow(CborError);
  });
});

describe("the history of eras", () => {
  const picoseconds = (ms: number) => BigInt(ms) * 1_000_000_000n;
  const terms = { genesisWindow: 36, safeZone: 40 };
  /** 3 epochs of 10 slots of 20 s, then epochs of 100 slots of 1 s, known up to slot 430. */
  const history: EraHistory = [
    {
      start: { time: 0n, slot: 0, epoch: 0 },
      end: { time: picoseconds(600_000), slot: 30, epoch: 3 },
      terms: { ...terms, epochLength: 10, slotLength: 20_000 },
    },
    {
      start: { time: picoseconds(600_000), slot: 30, epoch: 3 },
      end: { time: picoseconds(1_000_000), slot: 430, epoch: 7 },
      terms: { ...terms, epochLength: 100, slotLength: 1_000 },
    },
  ];
  const endless: EraHistory = [{
    ...history[0]!,
    end: undefined,
    terms: { ...history[0]!.terms, safeZone: undefined },
  }];

  it("gives the time of a slot, and the slot and epoch of a time", () => {
    for (
      const [slot, time, epoch] of [[0, 0, 0], [29, 580_000, 2], [30, 600_000, 3], [129, 699_000, 3], [130, 700_000, 4]]
    ) {
      expect(timeOfSlot(history, slot!)).toEqual({ ok: true, value: time });
      expect(slotOfTime(history, time!)).toEqual({ ok: true, value: slot });
      expect(slotOfTime(history, time! + 999)).toEqual({ ok: true, value: slot });
      expect(epochOfSlot(history, slot!)).toEqual({ ok: true, value: epoch });
    }
    expect(slotOfTime(history, 19_999)).toEqual({ ok: true, value: 0 });
    expect(slotsOfEpoch(history, 2)).toEqual({ ok: true, value: { first: 20, after: 30 } });
    expect(slotsOfEpoch(history, 3)).toEqual({ ok: true, value: { first: 30, after: 130 } });
    expect(slotsOfEpoch(history, 6)).toEqual({ ok: true, value: { first: 330, after: 430 } });
  });

  it("includes the horizon itself, and nothing after it", () => {
    expect(horizon(history)).toMatchObject({ slot: 430 });
    expect(timeOfSlot(history, 430)).toEqual({ ok: true, value: 1_000_000 });
    expect(slotOfTime(history, 1_000_000)).toEqual({ ok: true, value: 430 });
    expect(epochOfSlot(history, 430)).toEqual({ ok: true, value: 7 });
    const past = { ok: false, error: { code: "past_horizon" } };
    expect(timeOfSlot(history, 431)).toMatchObject(past);
    expect(slotOfTime(history, 1_000_001)).toMatchObject(past);
    expect(epochOfSlot(history, 431)).toMatchObject(past);
    expect(slotsOfEpoch(history, 7)).toMatchObject(past);
    expect(timeOfSlot(history, -1)).toMatchObject(past);
    expect(timeOfSlot([], 0)).toMatchObject(past);
    expect(timeOfSlot(history, 431)).toMatchObject({
      error: {
        message: "Slot 431 is past slot 430 (epoch 7): a node does not know how time runs from there on.",
      },
    });
  });

  it("has no end where no hard fork can happen", () => {
    expect(horizon(endless)).toBeUndefined();
    expect(timeOfSlot(endless, 1_000_000_000)).toEqual({ ok: true, value: 20_000_000_000_000 });
    expect(slotsOfEpoch(endless, 1_000)).toEqual({ ok: true, value: { first: 10_000, after: 10_010 } });
  });

  it("converts the system start to a time and back", () => {
    const time = Date.UTC(2020, 11, 31, 23, 59, 59, 999);
    expect(systemStart(time)).toEqual({ year: 2020, dayOfYear: 366, picoseconds: 86_399_999_000_000_000n });
    expect(startTime(systemStart(time))).toBe(time);
    expect(startTime({ year: 2017, dayOfYear: 266, picoseconds: 78_291_000_000_000_000n }))
      .toBe(Date.UTC(2017, 8, 23, 21, 44, 51));
  });
});
