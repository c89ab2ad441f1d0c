import { describe, expect, it } from "vitest";
import { constr, type Data as PlutusData, DataMap } from "#src/cardano/data.ts";
import * as u from "#src/contract/uplc/builtin.ts";
import {
  and,
  bind,
  bool,
  bytes,
  call,
  check,
  choose,
  data,
  fail,
  fn,
  ifEmpty,
  int,
  or,
  recursive,
  refuse,
  tuple,
  unit,
  untuple,
} from "#src/contract/uplc/expression.ts";
import { compiled, program } from "#src/contract/uplc/program.ts";
import { flat } from "#src/contract/uplc/flat.ts";
import { asBytes, asInt, asList, record } from "#src/contract/uplc/record.ts";
import {
  applied,
  type Bool,
  type Data,
  type Expr,
  type Int,
  type List,
  typed,
  Variable,
} from "#src/contract/uplc/term.ts";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { run } from "../../support/contract/scriptContext.ts";

/** Whether a condition without arguments evaluates to true. */
const holds = (condition: Expr<Bool>) => run(check(condition, "false", unit)).message;

describe("programs", () => {
  it("are encoded according to the specification", () => {
    // version 1.1.0, then apply (built-in addInteger, 11), padded: 0011 0111 0000000 0100 1 0000 0 00010110 and 000001
    const half = typed<unknown>(applied({ kind: "builtin", name: "addInteger" }, int(11).term));
    expect(toHex(flat(half.term))).toBe("0101003700900b01");
  });
  it("refuse unbound variables", () => {
    expect(() => compiled(program(typed({ kind: "variable", variable: new Variable() })))).toThrow(/not bound/);
    let leaked: Expr<Int> | undefined;
    fn<[Int], Int>((x) => leaked = x);
    expect(() => compiled(program(leaked!))).toThrow(/not bound/);
  });
  it("refuse more values than names", () => {
    const one = ((_a: Expr<Int>) => unit) as never;
    expect(() => bind([int(1), int(2)], one)).toThrow(/2 values for 1 names/);
  });
});

describe("constants", () => {
  it.each([0n, 1n, -1n, 63n, 64n, -64n, -65n, 127n, 128n, 1n << 70n, -(1n << 70n)])("integer %s", (n) => {
    expect(holds(u.equalInts(int(n), u.add(int(n - 1n), int(1))))).toBe("ok");
    expect(holds(u.equalInts(int(n), int(n + 1n)))).toBe("false");
  });
  it.each([0, 1, 254, 255, 256, 510, 511, 1000])("%i bytes", (length) => {
    const value = Uint8Array.from({ length }, (_, i) => i & 255);
    expect(holds(u.equalInts(u.length(bytes(value)), int(length)))).toBe("ok");
    if (length > 0) {
      expect(holds(u.equalInts(u.byteAt(bytes(value), int(length - 1)), int((length - 1) & 255)))).toBe("ok");
    }
  });
  it("data", () => {
    const values: PlutusData[] = [
      5n,
      utf8("x"),
      new Uint8Array(200),
      [1n, [utf8("y")]],
      constr(0),
      constr(6, 1n),
      constr(7, constr(127), constr(128)),
      new DataMap([[1n, utf8("z")], [utf8(""), []]]),
      -(1n << 100n),
    ];
    const same = fn<[Data, Data], unknown>((a, b) => check(u.equalData(a, b), "differ", unit));
    for (const value of values) {
      expect(run(fn<[Data], unknown>((given) => call(same, given, data(value))), value).message).toBe("ok");
      expect(run(fn<[Data], unknown>((given) => call(same, given, data(value))), constr(9)).message).toBe("differ");
    }
  });
});

describe("control", () => {
  const never = fail<Bool>("evaluated");
  it("evaluates only one branch", () => {
    expect(holds(choose(bool(true), bool(true), never))).toBe("ok");
    expect(holds(choose(bool(false), never, bool(true)))).toBe("ok");
    expect(holds(choose(bool(true), never, bool(true)))).toBe("evaluated");
    expect(holds(or(bool(true), never))).toBe("ok");
    expect(holds(and(bool(false), never))).toBe("false");
    expect(holds(and(bool(true), never))).toBe("evaluated");
    expect(holds(refuse(bool(false), "refused", bool(true)))).toBe("ok");
    expect(holds(refuse(bool(true), "refused", bool(true)))).toBe("refused");
  });
  it("binds, few or many, and packs", () => {
    expect(holds(bind([int(2)], (a) => u.equalInts(u.add(a, a), int(4))))).toBe("ok");
    expect(holds(bind([int(1), int(2)], (a, b) => u.less(a, b)))).toBe("ok");
    const sum = bind([int(1), int(2), int(3), int(4)], (a, b, c, d) => u.subtract(u.add(a, b), u.add(c, d)));
    expect(holds(u.equalInts(sum, int(-4)))).toBe("ok");
    expect(holds(untuple(tuple<[Int, Int]>(int(1), int(2)), (a, b) => u.less(a, b)))).toBe("ok");
  });
  it("recurs", () => {
    const count = recursive<[List<Data>], Int>((self) =>
      fn((list) => ifEmpty(list, int(0), u.add(int(1), self(u.tail(list)))))
    );
    const counted = fn<[Data], unknown>((list) => check(u.equalInts(call(count, u.unList(list)), int(3)), "no", unit));
    expect(run(counted, [1n, 2n, 3n]).message).toBe("ok");
    expect(run(counted, [1n]).message).toBe("no");
  });
});

describe("records", () => {
  const Point = record({ name: asBytes, x: asInt, tags: asList });
  const ask = (condition: (fields: ReturnType<typeof Point.open>) => Expr<Bool>, ...fields: PlutusData[]) =>
    run(
      fn<[Data], unknown>((given) => bind([Point.open(given)], (fields) => check(condition(fields), "no", unit))),
      constr(3, ...fields),
    ).message;
  const point = [utf8("p"), 7n, [1n]] as const;
  it("give each field", () => {
    expect(ask((f) => u.equalBytes(Point.get.name(f), bytes(utf8("p"))), ...point)).toBe("ok");
    expect(ask((f) => u.equalInts(Point.get.x(f), int(7)), ...point)).toBe("ok");
    expect(ask((f) => u.equalData(Point.raw.x(f), data(7n)), ...point)).toBe("ok");
    expect(ask((f) => u.isEmpty(u.tail(Point.get.tags(f))), ...point)).toBe("ok");
    expect(ask((f) => u.isEmpty(u.tail(Point.from.tags(f))), ...point)).toBe("ok");
    expect(ask((f) => u.equalInts(Point.get.x(f), int(7)), 7n)).not.toBe("ok");
  });
  it("detect their end", () => {
    expect(ask(Point.ends, ...point)).toBe("ok");
    expect(ask(Point.ends, ...point, 1n)).toBe("no");
    expect(ask(Point.ends, utf8("p"), 7n)).not.toBe("ok");
  });
});

describe("traces", () => {
  it("are only in builds for tests", () => {
    const failing = fail<Int>("a message");
    expect(run(failing).message).toBe("a message");
    expect(toHex(compiled(program(failing)))).not.toContain(toHex(utf8("message")));
  });
});
