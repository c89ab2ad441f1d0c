import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";
import { Constr, type Data, DataMap } from "#src/cardano/data.ts";
import { decodeMachineData, encodeMachineData } from "#src/plutus/machine/dataCbor.ts";
import { Assets } from "#src/plutus/machine/assets.ts";
import { BUILTIN_NAMES } from "#src/plutus/machine/builtins/names.ts";
import { Built, DataKind, sameData } from "#src/plutus/machine/data.ts";
import { EMPTY } from "#src/plutus/machine/list.ts";
import { evaluate, evaluateProgram, isUnit, type Language, type Outcome } from "#src/plutus/machine/evaluate.ts";
import { readBack } from "../../../support/plutus/readBack.ts";
import {
  apply,
  builtin,
  constant,
  constr,
  delay,
  force,
  lambda,
  type Term,
  variable,
} from "#src/plutus/machine/term.ts";
import { DATA, VALUE } from "#src/plutus/machine/type.ts";
import { NOTHING } from "#src/plutus/machine/value.ts";
import { Constant } from "#src/plutus/machine/constant.ts";
import { encodeProgram } from "../../../support/plutus/flatWriter.ts";
import { mainnetCostModels } from "../../../support/plutus/conformancePrograms.ts";
import { parseProgram, showTerm } from "../../../support/plutus/uplcText.ts";

const NONE = { memory: 1n << 60n, steps: 1n << 60n };
const models = mainnetCostModels();

function run(term: string, language: Language = 3, protocolMajor = 11, limit = NONE, args: Data[] = []): Outcome {
  const rules = { language, protocolMajor, costModel: models[language] };
  return evaluate(encodeProgram(parseProgram(`(program 1.0.0 ${term})`)), args, rules, limit);
}
const spent = ({ spent }: Outcome) => [Number(spent.steps), Number(spent.memory)];
const result = (outcome: Outcome) => outcome.ok ? showTerm(readBack(outcome.value)) : outcome.kind;
const call = (name: string, ...args: string[]) => `[(builtin ${name}) ${args.map((arg) => `(con ${arg})`).join(" ")}]`;

describe("costs by protocol version", () => {
  it("measure texts by characters before version 11, and by a fourth of their bytes since", () => {
    const append = call("appendString", 'string "Ola"', 'string " mundo!"');
    expect(spent(run(append, 3, 10))).toEqual([680_670, 614]);
    expect(spent(run(append, 3, 11))).toEqual([80_100 + 1000 + 59_957, 605]);
    // four characters of one, two, three and four bytes: 10 bytes
    const encoded = call("encodeUtf8", 'string "aß€😀"');
    expect(spent(run(encoded, 3, 10))[0]).toBe(48_100 + 1000 + 4 * 42_921);
    expect(spent(run(encoded, 3, 11))[0]).toBe(48_100 + 1000 + 2 * 42_921);
  });

  it("divide by the larger and the smaller size since version 11, quotients as before", () => {
    const great = `integer ${1n << 1000n}`;
    const price = (name: string, major: number) => spent(run(call(name, "integer 5", great), 3, major))[0]! - 80_100;
    expect(["divideInteger", "modInteger"].map((name) => price(name, 10))).toEqual([85_848, 85_848]);
    expect(["divideInteger", "modInteger"].map((name) => price(name, 11))).toEqual([187_016, 187_016]);
    for (const name of ["quotientInteger", "remainderInteger"]) expect(price(name, 11)).toBe(85_848);
  });

  it("take the remainder's memory from the divisor in Plutus V1 and V2 since version 11", () => {
    const modulo = call("modInteger", `integer ${1n << 1000n}`, `integer ${1n << 100n}`);
    expect(spent(run(modulo, 2, 10))[1]).toBe(600 + 14);
    expect(spent(run(modulo, 2, 11))[1]).toBe(600 + 2);
    expect(spent(run(modulo, 1, 11))[1]).toBe(600 + 2);
  });

  it("exceed every budget if the array ends before them", () => {
    const rules = { language: 3 as const, protocolMajor: 11, costModel: models[3].slice(0, 297) };
    const program = parseProgram(`(program 1.0.0 ${call("expModInteger", "integer 2", "integer 3", "integer 5")})`);
    const limit = { memory: (1n << 53n) - 1n, steps: (1n << 53n) - 1n };
    expect(evaluateProgram(program, [], rules, limit)).toMatchObject({ ok: false, kind: "budget" });
    expect(spent(evaluateProgram(program, [], rules, NONE))[0]).toBe(2 ** 63);
  });

  it("are those of the models of protocol version 10, too", () => {
    const costModel = mainnetParametersAt(10).costModels.get(2)!;
    const program = parseProgram(`(program 1.1.0 ${call("equalsByteString", "bytestring #01", "bytestring #02")})`);
    const outcome = evaluateProgram(program, [], { language: 3, protocolMajor: 10, costModel }, NONE);
    expect(spent(outcome)[0]).toBe(80_100 + 29_498 + 38);
  });
});

describe("semantics by language and protocol version", () => {
  it("prepends the low byte in Plutus V1 and V2 only", () => {
    const cons = (byte: number) => call("consByteString", `integer ${byte}`, "bytestring #aa");
    for (const major of [10, 11]) {
      for (const language of [1, 2] as const) {
        expect(result(run(cons(257), language, major))).toBe("(con bytestring #01aa)");
        expect(result(run(cons(-1), language, major))).toBe("(con bytestring #ffaa)");
      }
      expect(result(run(cons(256), 3, major))).toBe("builtin");
    }
  });

  it("limits a constructor's number, shifts, integers and bytes since version 11", () => {
    const tag = `[(builtin constrData) (con integer -1) [(builtin mkNilData) (con unit ())]]`;
    expect(result(run(tag, 3, 10))).toBe("(con data Constr -1 [])");
    expect(result(run(tag, 3, 11))).toBe("builtin");
    const shift = call("shiftByteString", "bytestring #ff", `integer ${1n << 63n}`);
    expect(result(run(shift, 3, 10))).toBe("(con bytestring #00)");
    expect(result(run(shift, 3, 11))).toBe("builtin");
    const great = call("lessThanInteger", "integer 0", `integer ${1n << 262_143n}`);
    expect(result(run(great, 3, 10))).toBe("(con bool true)");
    expect(result(run(great, 3, 11))).toBe("builtin");
    const bytes = call("sha2_256", `bytestring #${"00".repeat(65_537)}`);
    expect(run(bytes, 3, 10).ok).toBe(true);
    expect(result(run(bytes, 3, 11))).toBe("builtin");
  });

  it("converts no value of more than 40,000 tokens to data (valueDataMaxSize)", () => {
    const tokens = Array.from({ length: 40_001 }, (_, i) => [Uint8Array.of(i >> 16, i >> 8, i), 1n] as const);
    const dataOf = (count: number) => {
      const value = new Constant(VALUE, new Assets([[Uint8Array.of(1), tokens.slice(0, count)]]));
      const term = apply(builtin(BUILTIN_NAMES.indexOf("valueData")), constant(value));
      const rules = { language: 3, protocolMajor: 11, costModel: models[3] } as const;
      return evaluateProgram({ version: [1, 0, 0], term, open: false }, [], rules, NONE);
    };
    expect(dataOf(40_000).ok).toBe(true);
    expect(result(dataOf(40_001))).toBe("builtin");
  });

  it("branches on constants since version 11, in every language", () => {
    const program = parseProgram("(program 1.1.0 (case (con bool True) (error) (con integer 7)))");
    const outcome = (language: Language, protocolMajor: number) =>
      result(evaluateProgram(program, [], { language, protocolMajor, costModel: models[language] }, NONE));
    expect([1, 2, 3].map((language) => outcome(language as Language, 11))).toEqual(Array(3).fill("(con integer 7)"));
    expect([outcome(3, 10), outcome(2, 10)]).toEqual(["type", "version"]);
  });
});

describe("an evaluation", () => {
  it("stops when the budget is used up, and not a unit before", () => {
    const sum = call("addInteger", "integer 1", "integer 2");
    const [steps, memory] = spent(run(sum)).map(BigInt) as [bigint, bigint];
    expect(run(sum, 3, 11, { memory, steps }).ok).toBe(true);
    expect(run(sum, 3, 11, { memory: memory - 1n, steps })).toMatchObject({ ok: false, kind: "budget" });
    expect(run(sum, 3, 11, { memory, steps: steps - 1n })).toMatchObject({ ok: false, kind: "budget" });
    const forever = run("[(lam x [x x]) (lam x [x x])]", 3, 11, { memory: 16_500_000n, steps: 10_000_000_000n });
    expect(forever).toMatchObject({ ok: false, kind: "budget" });
    expect(spent(forever)[1]).toBeGreaterThan(16_500_000);
  });

  it("reports how a script failed, and its trace before", () => {
    expect(result(run("(error)"))).toBe("error");
    expect(result(run("x"))).toBe("open-term");
    expect(result(run("[(con unit ()) (con unit ())]"))).toBe("type");
    expect(result(run(call("divideInteger", "integer 1", "integer 0")))).toBe("builtin");
    expect(evaluate(Uint8Array.of(1), [], { language: 3, protocolMajor: 11, costModel: models[3] }, NONE))
      .toMatchObject({ ok: false, kind: "decoding" });
    const said = run(
      '[(force (builtin trace)) (con string "one") [(force (builtin trace)) (con string "two") (error)]]',
    );
    expect(said).toMatchObject({ kind: "error", logs: [] });
    const later = run('[(lam x (error)) [(force (builtin trace)) (con string "one") (con unit ())]]');
    expect(later).toMatchObject({ kind: "error", logs: ["one"] });
  });

  it("applies a script to its arguments at the cost of their terms", () => {
    const outcome = run("(lam x (lam y y))", 3, 11, NONE, [1n, new Constr(3, [2n])]);
    expect(result(outcome)).toBe("(con data Constr 3 [I 2])");
    expect(spent(outcome)).toEqual([7 * 16_000 + 100, 800]);
    const unit = run("(lam x (con unit ()))", 3, 11, NONE, [1n]);
    expect(unit.ok && isUnit(unit.value)).toBe(true);
  });
});

const DEEP = 200_000;

describe("depth chosen by a script", () => {
  const deepData = (): Data => {
    let data: Data = 1n;
    for (let i = 0; i < DEEP; i++) {
      data = i % 3 === 0 ? [data] : i % 3 === 1 ? new Constr(0, [data]) : new DataMap([[0n, data]]);
    }
    return data;
  };

  it("of data does not limit comparison, measurement, encoding and decoding", () => {
    const [data, other] = [deepData(), deepData()];
    const equal = run("(lam x (lam y [(builtin equalsData) x y]))", 3, 11, NONE, [data, other]);
    expect(result(equal)).toBe("(con bool true)");
    const bytes = run("(lam x [(builtin lengthOfByteString) [(builtin serialiseData) x]])", 3, 11, NONE, [data]);
    expect(bytes.ok).toBe(true);
    const written = encodeMachineData(data);
    expect(result(bytes)).toBe(`(con integer ${written.length})`);
    expect(sameData(decodeMachineData(written), data)).toBe(true);
  });

  it("of terms and values does not limit evaluation and read-back", () => {
    let forces: Term = constant(NOTHING);
    let nested: Term = constant(NOTHING);
    for (let i = 0; i < DEEP; i++) {
      forces = force(delay(forces));
      nested = i % 2 === 0 ? constr(1, [nested]) : apply(lambda(variable(1)), nested);
    }
    const evaluated = (term: Term) =>
      evaluateProgram(
        { version: [1, 1, 0], term, open: false },
        [],
        { language: 3, protocolMajor: 11, costModel: models[3] },
        NONE,
      );
    const unit = evaluated(forces);
    expect(unit.ok && isUnit(unit.value)).toBe(true);
    const value = evaluated(nested);
    expect(value.ok && readBack(value.value).terms).toHaveLength(1);
  });

  it("of a comparison of a large value with a small one costs little time", () => {
    const great: Data = Array.from({ length: 100_000 }, (_, i) => BigInt(i));
    const outcome = run("(lam x (lam y [(builtin equalsData) x y]))", 3, 11, NONE, [great, 1n]);
    // the smaller one has a node and a word
    expect(spent(outcome)[0]! - (11 * 16_000 + 100)).toBe(898_148 + 5 * 27_279);
  });
});

describe("data as bytes", () => {
  it("are those of the ledger's serialiser", () => {
    const written = (data: Data) => toHex(encodeMachineData(data));
    expect(written([])).toBe("80");
    expect(written([1n, new Constr(7, [])])).toBe("9f01d9050080ff");
    expect(written(new Constr(128, [0n]))).toBe("d8668218809f00ff");
    expect(written(1n << 64n)).toBe("c249010000000000000000");
    expect(written(-1n - (1n << 64n))).toBe("c349010000000000000000");
    // a constructor's number beyond 64 bits, which only scripts before version 11 make, is never chunked
    const number = new Built(DataKind.CONSTR, 1n << 520n, EMPTY);
    expect(toHex(encodeMachineData(number))).toBe(`d86682c2584201${"00".repeat(65)}80`);
    // chunks of 64 bytes, also of integers
    expect(written(new Uint8Array(65))).toBe(`5f5840${"00".repeat(64)}4100ff`);
    expect(written((1n << 520n) - 1n)).toBe(`c25f5840${"ff".repeat(64)}41ffff`);
  });

  it("are decoded in every encoding that the ledger accepts, and in no other", () => {
    const same = (hex: string, data: Data) => expect(sameData(decodeMachineData(fromHex(hex)), data), hex).toBe(true);
    same("d87980", new Constr(0, []));
    same("d8798101", new Constr(0, [1n]));
    same("d866820080", new Constr(0, []));
    same("d8669f0080ff", new Constr(0, []));
    same("d8669f009f01ffff", new Constr(0, [1n]));
    same("bf0102ff", new DataMap([[1n, 2n]]));
    same("c25f4101ff", 1n);
    same("1b0000000000000001", 1n);
    same("5f41014102ff", Uint8Array.of(1, 2));
    const refused = [
      "",
      "60", // a text
      "f5", // a boolean
      "d8668101", // a constructor that is not a pair
      "d866822080", // a constructor with a negative number
      "d879", // cut short
      "d9057980", // tag 1401
      "bf01ff", // a key without a value
      "5f6161ff", // a chunk of text
      `5841${"00".repeat(65)}`, // a chunk of 65 bytes
      `c25841${"00".repeat(65)}`,
      "9f01", // no break
    ];
    for (const hex of refused) expect(() => decodeMachineData(fromHex(hex)), hex).toThrow();
    // a constructor's number of 64 bits, and one beyond
    const great = decodeMachineData(fromHex("d866821bffffffffffffffff80"));
    expect(toHex(encodeMachineData(great))).toBe("d866821bffffffffffffffff80");
    expect(() => decodeMachineData(fromHex("d86682c24901000000000000000080"))).toThrow();
    expect(showTerm(constant(new Constant(DATA, great)))).toBe("(con data Constr 18446744073709551615 [])");
  });
});
