import { describe, expect, it } from "vitest";
import { cageScript, cageScripts } from "#src/contract/script.ts";
import { concat } from "#src/base/bytes.ts";
import { encode } from "#src/cardano/cbor.ts";
import { isWellFormed } from "#src/plutus/wellFormed.ts";
import { agrees, agreesWithThree, refuses, refusesSaying } from "../../support/plutus/scripts.ts";
import { cases } from "../../support/base/longTests.ts";

/** A program from its bits, as the bytes of a witness set. */
function program(bits: string, version = [1, 1, 0]): Uint8Array {
  const digits = bits.replaceAll(" ", "");
  const padded = digits + "0".repeat(7 - digits.length % 8) + "1";
  return encode(Uint8Array.from([...version, ...padded.match(/.{8}/g)!.map((byte) => parseInt(byte, 2))]));
}
const builtin = (tag: number) => program("0111" + tag.toString(2).padStart(7, "0"), [1, 0, 0]);

describe("isWellFormed", () => {
  it("accepts programs", () => {
    for (const script of [agrees, refuses, refusesSaying("why")]) expect(isWellFormed(script, 3, 10)).toBe(true);
    for (const language of [1, 2, 3] as const) expect(isWellFormed(agreesWithThree, language, 10)).toBe(true);
  });

  it("accepts constructors, cases and constants of all kinds", () => {
    for (
      const bits of [
        "1000 00000010 1 0110 1 0110 0", // constr 2 [error, error]
        "1001 1000 00000000 0 1 0110 0", // case (constr 0 []) [error]
        "0100 1 0000 0 10000001 00000001", // integer of two bytes
        "0100 1 0100 0 1", // true
        "0100 1 0111 1 0101 1 0000 0 1 00000010 1 00000100 0", // list of two integers
        "0100 1 0111 1 0111 1 0110 1 0100 1 0011 0 1", // pair of a bool and unit
        "0100 1 1000 0 000001 00000001 00000101 00000000", // data
      ]
    ) expect(isWellFormed(program(bits), 3, 10), bits).toBe(true);
  });

  it("does not check whether variables are bound", () => {
    expect(isWellFormed(program("0010 0000 00000010"), 3, 10)).toBe(true);
    expect(isWellFormed(program("0000 00000001"), 3, 10)).toBe(true);
  });

  it("refuses other bytes", () => {
    for (
      const bytes of [
        new Uint8Array(),
        Uint8Array.of(1),
        encode(new Uint8Array()),
        encode(Uint8Array.of(1, 1, 0)),
        encode(Uint8Array.of(1, 1)),
        encode("text"),
        encode([1]),
        program("1010"), // no such term
        program("1111"),
        program("0100 0"), // a constant without a type
        program("0100 1 1001 0"), // a point of a curve as a constant
        program("0100 1 0101 0"), // a list without an element type
        program("0100 1 0010 0 000001 00000001 11111111 00000000"), // text that is not UTF-8
        program("0100 1 1000 0 000001 00000001 01100000 00000000"), // text as data
      ]
    ) expect(isWellFormed(bytes, 3, 10)).toBe(false);
  });

  it("refuses bytes after the program, and a truncated program", () => {
    expect(isWellFormed(encode(concat(agrees.subarray(1), Uint8Array.of(1))), 3, 10)).toBe(false);
    expect(isWellFormed(encode(agrees.subarray(1, agrees.length - 1)), 3, 10)).toBe(false);
  });

  it("refuses bytes after the CBOR from Plutus V3 on", () => {
    const longer = concat(agreesWithThree, Uint8Array.of(0));
    expect(isWellFormed(longer, 2, 10)).toBe(true);
    expect(isWellFormed(longer, 3, 10)).toBe(false);
  });

  it("does not check which language has which version, but what a version has", () => {
    for (const version of [[0, 9, 0], [1, 0, 1], [1, 1, 0], [1, 2, 0], [2, 0, 0]]) {
      for (const language of [1, 2, 3] as const) {
        expect(isWellFormed(program("0110", version), language, 10)).toBe(true);
      }
    }
    expect(isWellFormed(program("1000 00000000 0", [1, 2, 0]), 2, 9)).toBe(true);
    expect(isWellFormed(program("1000 00000000 0", [1, 0, 0]), 3, 10)).toBe(false);
  });

  it.each(
    [
      [50, 1, 9, true], // mkNilPairData
      [51, 1, 10, false], // serialiseData
      [51, 2, 9, true],
      [52, 2, 7, false], // verifyEcdsaSecp256k1Signature
      [52, 2, 8, true],
      [52, 3, 9, true],
      [54, 2, 10, false], // bls12_381_G1_add
      [74, 2, 9, false], // byteStringToInteger
      [74, 2, 10, true],
      [74, 3, 9, true],
      [75, 3, 9, false], // andByteString
      [75, 3, 10, true],
      [86, 3, 10, true], // ripemd_160
      [87, 3, 10, false],
      [127, 3, 11, false],
    ] as const,
  )("detects that builtin %i is in Plutus V%i at version %i: %s", (tag, language, major, expected) => {
    expect(isWellFormed(builtin(tag), language, major)).toBe(expected);
  });

  it("decodes programs that nest deeper than a call stack", () => {
    expect(isWellFormed(program("0010".repeat(50_000) + "0110"), 3, 10)).toBe(true);
    expect(isWellFormed(program("0010".repeat(50_000)), 3, 10)).toBe(false);
  });

  it("accepts the contract, and gives a verdict with any of its bytes changed", () => {
    const script = cageScript.compiledCode;
    // the current version has builtins of protocol version 11
    expect(cageScripts.map(({ compiledCode }) => isWellFormed(compiledCode, 3, 10))).toEqual([true, true, false]);
    expect(cageScripts.every(({ compiledCode }) => isWellFormed(compiledCode, 3, 11))).toBe(true);
    let [tried, refused] = [0, 0];
    for (let at = 0; at < script.length; at += cases(7, 1)) {
      const changed = script.slice();
      changed[at]! ^= 1 << (at % 8);
      tried++;
      if (!isWellFormed(changed, 3, 11)) refused++;
    }
    expect(refused).toBeGreaterThan(tried / 10);
  });
});
