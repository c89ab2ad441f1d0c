import { describe, expect, it } from "vitest";
import { ledgerSize, minFee, refScriptFee, unitsFee } from "#src/transaction/fee.ts";
import { minUtxo } from "#src/transaction/minUtxo.ts";

const parameters = {
  feePerByte: 44n,
  feeFixed: 155_381n,
  prices: {
    memory: { numerator: 577n, denominator: 10_000n },
    steps: { numerator: 721n, denominator: 10_000_000n },
  },
  refScriptCostPerByte: { numerator: 15n, denominator: 1n },
};

describe("minFee", () => {
  it("is a fixed part and a part for each byte, without the validity flag", () => {
    expect(minFee(parameters, { size: ledgerSize(290) })).toBe(155_381n + 44n * 289n);
  });

  it("adds units and reference scripts", () => {
    const units = { memory: 1_000_000n, steps: 500_000_000n };
    expect(minFee(parameters, { size: 300, units, refScriptBytes: 100 })).toBe(
      155_381n + 44n * 300n + 57_700n + 36_050n + 1_500n,
    );
  });
});

describe("unitsFee", () => {
  it("rounds the sum up once", () => {
    expect(unitsFee(parameters, { memory: 1n, steps: 1n })).toBe(1n);
    expect(unitsFee(parameters, { memory: 10_000n, steps: 10_000_000n })).toBe(577n + 721n);
    expect(unitsFee(parameters, { memory: 10_001n, steps: 10_000_001n })).toBe(577n + 721n + 1n);
    expect(unitsFee(parameters, { memory: 0n, steps: 0n })).toBe(0n);
  });
});

describe("refScriptFee", () => {
  // 15 lovelace per byte, then 18, then 21.6, … for each step of 25,600 bytes, rounded down once (computed with exact
  // fractions)
  it.each([
    [0, 0n],
    [25_599, 383_985n],
    [25_600, 384_000n],
    [25_601, 384_018n],
    [51_201, 844_821n],
    [51_202, 844_843n],
    [76_801, 1_397_785n],
    [204_800, 6_335_648n],
  ])("of %i bytes is %i lovelace", (bytes, fee) => {
    expect(refScriptFee(parameters.refScriptCostPerByte, bytes)).toBe(fee);
  });

  it("applies a fractional price exactly", () => {
    expect(refScriptFee({ numerator: 1n, denominator: 3n }, 25_600)).toBe(8_533n);
  });
});

describe("minUtxo", () => {
  it("counts 160 bytes in addition to the output", () => {
    expect(minUtxo({ utxoCostPerByte: 4_310n }, 65)).toBe(969_750n);
  });
});
