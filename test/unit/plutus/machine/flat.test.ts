import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { BUILTIN_NAMES } from "#src/plutus/machine/builtins/names.ts";
import { Failure } from "#src/plutus/machine/failure.ts";
import { decodeProgram } from "#src/plutus/machine/flat.ts";
import { apply, builtin, constant, constr, delay, ERROR, type Program, type Term } from "#src/plutus/machine/term.ts";
import { INTEGER, type Type, TypeTag, UNIT } from "#src/plutus/machine/type.ts";
import { EMPTY } from "#src/plutus/machine/list.ts";
import { NOTHING } from "#src/plutus/machine/value.ts";
import { Constant } from "#src/plutus/machine/constant.ts";
import type { Language } from "#src/plutus/machine/version.ts";
import { encodeProgram } from "../../../support/plutus/flatWriter.ts";
import { conformancePrograms } from "../../../support/plutus/conformancePrograms.ts";
import { showProgram } from "../../../support/plutus/uplcText.ts";

const program = (term: Term, minor: 0 | 1 = 1): Program => ({ version: [1, minor, 0], term, open: false });

function refusal(bytes: Uint8Array, language: Language = 3, major = 11): string | undefined {
  try {
    decodeProgram(bytes, language, major);
    return undefined;
  } catch (error) {
    if (error instanceof Failure && error.kind === "decoding") return error.message;
    throw error;
  }
}

describe("programs that the suite encodes", () => {
  it("are the same bytes when they are encoded again", () => {
    let count = 0;
    for (const { flat, expected } of conformancePrograms()) {
      if (!flat || expected === "parse/decode error") continue;
      expect(toHex(encodeProgram(decodeProgram(fromHex(flat), 3, 11)))).toBe(flat);
      count++;
    }
    expect(count).toBeGreaterThan(600);
  });

  it("are refused if truncated, and with an additional byte", () => {
    for (const { flat } of conformancePrograms().filter(({ flat }) => flat).slice(0, 100)) {
      const bytes = fromHex(flat!);
      expect(refusal(bytes.subarray(0, -1))).toBeTruthy();
      expect(refusal(Uint8Array.of(...bytes, 0))).toBe("bytes after the program");
    }
  });
});

/** Numbers of the first and last of the built-in functions in a language. */
function available(language: Language, major: number): number[] {
  return BUILTIN_NAMES.flatMap((_, tag) =>
    refusal(encodeProgram(program(builtin(tag), 0)), language, major) === undefined ? [tag] : []
  );
}
const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

describe("the built-in functions of a language", () => {
  it("grow with the protocol version", () => {
    expect(available(1, 10)).toEqual(range(0, 50));
    expect(available(2, 9)).toEqual(range(0, 53));
    expect(available(2, 10)).toEqual([...range(0, 53), 73, 74]);
    expect(available(3, 9)).toEqual(range(0, 74));
    expect(available(3, 10)).toEqual(range(0, 86));
    for (const language of [1, 2, 3] as const) expect(available(language, 11)).toEqual(range(0, 100));
  });
});

describe("limits of the decoder", () => {
  it("are 1,024 fields of a constructor", () => {
    const fields = (count: number) => encodeProgram(program(constr(0, Array.from({ length: count }, () => ERROR))));
    expect(refusal(fields(1024))).toBeUndefined();
    expect(refusal(fields(1025))).toBe("a constructor of 1025 fields");
  });

  it("are 32 nodes of a type", () => {
    const nested = (depth: number) => {
      let type: Type = INTEGER;
      for (let i = 0; i < depth; i++) type = type.listOf;
      return encodeProgram(program(constant(new Constant(type, EMPTY))));
    };
    expect(refusal(nested(15))).toBeUndefined();
    expect(refusal(nested(16))).toBe("a type is too great");
  });

  it("are 64 bits of a constructor's number", () => {
    expect(refusal(encodeProgram(program(constr((1n << 64n) - 1n, []))))).toBeUndefined();
    expect(refusal(encodeProgram(program(constr(1n << 64n, []))))).toBe("an integer of more than 64 bits");
  });

  it("include no depth: terms nest as deeply as there are bytes", () => {
    let term: Term = constant(NOTHING);
    for (let i = 0; i < 300_000; i++) {
      term = i % 3 === 0 ? delay(term) : i % 3 === 1 ? constr(0, [term]) : apply(ERROR, term);
    }
    expect(refusal(encodeProgram(program(term)))).toBeUndefined();
  });

  it("exclude points of a curve as constants", () => {
    // a type tag of 9 to 11, without a value: (con bls12_381_G1_element …)
    for (const tag of [TypeTag.G1, TypeTag.G2, TypeTag.MILLER_LOOP]) {
      const bits = `${"00000001".repeat(2)}00000000${"0100"}1${tag.toString(2).padStart(4, "0")}0`.padEnd(48, "1");
      const bytes = Uint8Array.from(bits.match(/.{8}/g)!, (byte) => parseInt(byte, 2));
      expect(refusal(bytes)).toBe("a constant of a type that has no encoding");
    }
  });
});

it("a constant of unit or bool needs no value of its own", () => {
  const { term } = decodeProgram(encodeProgram(program(constant(new Constant(UNIT, null)))), 3, 11);
  expect(term.constant).toBe(NOTHING);
  expect(showProgram(program(term))).toBe("(program 1.1.0 (con unit null))");
});
