/** Amounts on the wallet page: what people type, and what they see. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  adaText,
  assetTitle,
  fieldText,
  readableName,
  readAda,
  readUnits,
  unitsText,
} from "#src/pages/wallet/amounts.ts";

describe("amounts", () => {
  it("are shown with groups, and without zeros at the end", () => {
    expect([0n, 1n, 1_500_000n, 1_234_567_890_123n, -2_000_000n].map(adaText)).toEqual([
      "0",
      "0.000001",
      "1.5",
      "1,234,567.890123",
      "-2",
    ]);
    expect([unitsText(12_345n, 0), unitsText(12_345n, 2), unitsText(5n, 3)]).toEqual(["12,345", "123.45", "0.005"]);
  });

  it("are read as they are shown, for every quantity and all decimals", () => {
    fc.assert(fc.property(fc.bigInt(0n, 2n ** 64n - 1n), fc.integer({ min: 0, max: 20 }), (quantity, decimals) => {
      expect(readUnits(unitsText(quantity, decimals), decimals)).toEqual({ ok: true, value: quantity });
      expect(readUnits(fieldText(quantity, decimals), decimals)).toEqual({ ok: true, value: quantity });
    }));
  });

  it("are never read as something else: a comma that is not a group's is refused", () => {
    const value = (text: string) => {
      const read = readAda(text);
      return read.ok ? read.value : "refused";
    };
    expect(value("1.5")).toBe(1_500_000n);
    expect(value(" 1 000 ")).toBe(1_000_000_000n);
    expect(value("1,000.5")).toBe(1_000_500_000n);
    expect(value(".5")).toBe(500_000n);
    for (const text of ["", ".", "1,5", "1,50", "1.0000001", "-1", "1e6", "0x10", "1.2.3", "45000000001", "١٢"]) {
      expect([text, value(text)]).toEqual([text, "refused"]);
    }
    expect(readUnits("1.5", 0)).toEqual({ ok: false, problem: "This has no fractions." });
  });
});

describe("an asset's title", () => {
  const hex = (text: string) => Buffer.from(text).toString("hex");

  it("is its ticker, its name, its readable bytes, or its fingerprint", () => {
    const fingerprint = "asset1x";
    expect(assetTitle({ name: hex("a"), fingerprint, metadata: { name: "Apple", ticker: "APL" } })).toBe("APL");
    expect(assetTitle({ name: hex("a"), fingerprint, metadata: { name: "Apple" } })).toBe("Apple");
    expect(assetTitle({ name: hex("HOSKY"), fingerprint })).toBe("HOSKY");
    expect(assetTitle({ name: "00ff", fingerprint })).toBe("asset1x");
    expect(assetTitle({ name: "", fingerprint })).toBe("asset1x");
    expect(assetTitle({ name: "" })).toBe("(no name)");
  });

  it("has no control or direction characters of a name, and no label of CIP-67", () => {
    expect(readableName(hex("a\u202eb"))).toBeUndefined();
    expect(readableName(hex("a\nb"))).toBeUndefined();
    expect(readableName(`000de140${hex("Ape 1")}`)).toBe("Ape 1");
    expect(readableName(hex("猫"))).toBe("猫");
  });
});
