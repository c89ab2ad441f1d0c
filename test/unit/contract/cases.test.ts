/** Compilation for protocol version 11: it evaluates to the same as the form for every version, at a lower cost. */
import { describe, expect, it } from "vitest";
import { constr, type Data as PlutusData } from "#src/cardano/data.ts";
import * as u from "#src/contract/uplc/builtin.ts";
import {
  and,
  bind,
  bool,
  branch,
  call,
  check,
  choose,
  chooseByTag,
  fail,
  fn,
  forms,
  ifEmpty,
  int,
  or,
  recursive,
  tuple,
  unit,
  untuple,
} from "#src/contract/uplc/expression.ts";
import { flat } from "#src/contract/uplc/flat.ts";
import { program } from "#src/contract/uplc/program.ts";
import type { Bool, Data, Expr, Int, List, Pair, Term } from "#src/contract/uplc/term.ts";
import { mainnetParametersAt } from "#src/ledger/parameters.ts";
import { evaluate } from "#src/plutus/machine/evaluate.ts";
import { Constant } from "#src/plutus/machine/constant.ts";
import { seeded } from "../../support/base/seededRandom.ts";
import { cases } from "../../support/base/longTests.ts";

const UNLIMITED = { memory: 10n ** 12n, steps: 10n ** 15n };

function evaluated(fun: Expr<unknown>, args: readonly PlutusData[], caseOnConstants: boolean, protocolMajor: 10 | 11) {
  const costModel = mainnetParametersAt(protocolMajor).costModels.get(2)!;
  const code = flat(program(fun, { caseOnConstants }));
  return evaluate(code, args, { language: 3, protocolMajor, costModel }, UNLIMITED);
}

/** The result of both builds, which is the same, and the share of the units that the second one takes. */
function both(fun: Expr<unknown>, ...args: PlutusData[]) {
  const [plain, cased] = [evaluated(fun, args, false, 11), evaluated(fun, args, true, 11)];
  const value = (one: typeof plain) => one.ok ? (one.value instanceof Constant ? one.value.value : "?") : "failed";
  expect(value(cased)).toEqual(value(plain));
  const share = (unit: "memory" | "steps") => Number(cased.spent[unit]) / Number(plain.spent[unit]);
  return { value: value(cased), memory: share("memory"), steps: share("steps") };
}

/** Kinds of terms and names of built-in functions in a build. */
function parts(fun: Expr<unknown>): Set<string> {
  const found = new Set<string>();
  const walk = (term: unknown): void => {
    if (typeof term !== "object" || term === null) return;
    if (Array.isArray(term)) return term.forEach(walk);
    const { kind, name } = term as Term & { name?: string };
    found.add(name ?? kind);
    Object.values(term).forEach(walk);
  };
  walk(program(fun, { caseOnConstants: true }));
  return found;
}

describe("compilation of", () => {
  const sum = recursive<[List<Data>], Int>((self) =>
    fn((list) => ifEmpty(list, int(0), u.add(u.unInt(u.head(list)), self(u.tail(list)))))
  );
  it("a list: head and tail at once", () => {
    const fun = fn<[Data], Int>((data) => call(sum, u.unList(data)));
    expect(both(fun, [1n, 2n, 40n])).toMatchObject({ value: 43 });
    expect(both(fun, Array.from({ length: 50 }, () => 1n)).steps).toBeLessThan(0.6);
    expect([...parts(fun)]).not.toEqual(expect.arrayContaining(["headList"]));
    for (const name of ["headList", "tailList", "chooseList", "force", "delay"]) expect(parts(fun)).not.toContain(name);
  });
  it("a pair: both halves at once", () => {
    const fun = fn<[Data], Int>((data) =>
      bind([u.unConstr(data)], (pair) => u.add(u.first(pair), u.unInt(u.head(u.second(pair)))))
    );
    expect(both(fun, constr(3, 4n))).toMatchObject({ value: 7 });
    expect(both(fun, 5n)).toMatchObject({ value: "failed" });
    expect(parts(fun)).not.toContain("fstPair");
  });
  it("comparisons of a number: a table, which fails for other numbers", () => {
    const fun = fn<[Data], Int>((data) =>
      bind([u.unInt(data)], (n) =>
        choose(
          u.equalInts(n, int(0)),
          int(10),
          choose(u.equalInts(int(3), n), int(13), check(u.equalInts(n, int(1)), "", int(11))),
        ))
    );
    expect(parts(fun)).not.toContain("equalsInteger");
    for (const n of [0n, 1n, 3n]) expect(both(fun, n).value).toBe(10 + Number(n));
    for (const n of [2n, 4n, -1n, 1n << 64n, -(1n << 64n)]) expect(both(fun, n).value).toBe("failed");
  });
  it("a number without a fixed range: a comparison as before", () => {
    const fun = fn<[Data], Int>((n) => choose(u.equalInts(u.unInt(n), int(0)), int(1), int(2)));
    for (const n of [0n, 1n, 2n, -1n, 1n << 64n]) expect(both(fun, n).value).toBe(n === 0n ? 1 : 2);
  });
  it("conditions: one selection each", () => {
    const positive = (n: Expr<Data>) => u.less(int(0), u.unInt(n));
    const fun = fn<[Data, Data], Int>((a, b) =>
      choose(and(positive(a), positive(b)), int(2), choose(or(positive(a), positive(b)), int(1), int(0)))
    );
    for (const [a, b, n] of [[1n, 1n, 2], [1n, 0n, 1], [0n, 1n, 1], [0n, 0n, 0]] as const) {
      expect(both(fun, a, b).value).toBe(n);
    }
    for (const name of ["ifThenElse", "force", "delay"]) expect(parts(fun)).not.toContain(name);
  });
  it("a common subexpression: evaluated once", () => {
    const fun = fn<[Data], Int>((n) => u.add(u.add(u.unInt(n), int(1)), u.add(u.unInt(n), int(1))));
    expect(both(fun, 4n)).toMatchObject({ value: 10 });
    expect(both(fun, 4n).steps).toBeLessThan(0.9);
  });
  it("a failing value that only one branch needs: it stays in its branch", () => {
    const fun = fn<[Data], Int>((data) => bind([u.head(u.unList(data))], (_first) => int(1)));
    expect(both(fun, [5n]).value).toBe(1);
    expect(both(fun, []).value).toBe("failed");
    const some = fn<[Data, Data], Int>((data, n) =>
      bind([u.unInt(data)], (value) => choose(u.less(u.unInt(n), int(0)), int(1), value))
    );
    expect(both(some, 4n, 1n).value).toBe(4);
    expect(both(some, [], -1n).value).toBe("failed");
  });
  it("a list that only one branch destructures: the other branches do not", () => {
    const fun = fn<[Data, Data], Int>((data, n) =>
      bind(
        [u.unList(data)],
        (list) =>
          choose(u.less(u.unInt(n), int(0)), int(0), u.add(u.unInt(u.head(list)), u.unInt(u.head(u.tail(list))))),
      )
    );
    expect(both(fun, [], -1n).value).toBe(0);
    expect(both(fun, [1n, 2n], 1n).value).toBe(3);
    expect(both(fun, [1n], 1n).value).toBe("failed");
  });
  it("parts in two forms: the form of the build", () => {
    const fun = forms(() => int(1), () => int(2));
    expect(evaluated(fun, [], false, 11)).toMatchObject({ value: { value: 1 } });
    expect(evaluated(fun, [], true, 11)).toMatchObject({ value: { value: 2 } });
    expect(() => flat(fun.term)).toThrow(/two forms/);
  });
  it("a tag of two: a table", () => {
    const fun = fn<[Data], Int>((n) => chooseByTag(u.unInt(n), 1, int(8), int(9)));
    expect([0n, 1n].map((n) => both(fun, n).value)).toEqual([9, 8]);
    expect(evaluated(fun, [2n], true, 11).ok).toBe(false);
    expect(evaluated(fun, [2n], false, 11).ok).toBe(true);
  });
});

it("requires protocol version 11, which the published form does not", () => {
  const fun = choose(u.less(int(0), int(1)), unit, fail("no"));
  expect(evaluated(fun, [], true, 11).ok).toBe(true);
  expect(evaluated(fun, [], true, 10)).toMatchObject({ ok: false, kind: "type" });
  expect(evaluated(fun, [], false, 10).ok).toBe(true);
});

/** Random expressions of a type over the bound variables; many of them fail. */
class Writer {
  private readonly ints: Expr<Int>[] = [];
  private readonly lists: Expr<List<Data>>[] = [];
  private readonly pairs: Expr<Pair<Int, List<Data>>>[] = [];

  constructor(private readonly random: () => number) {}

  private pick<T>(...ways: readonly (() => T)[]): T {
    return ways[Math.floor(this.random() * ways.length)]!();
  }
  private one<T>(all: readonly T[]): T {
    return all[Math.floor(this.random() * all.length)]!;
  }
  /** An expression with additional bound variables. */
  private within<T, R>(scope: T[], bound: T, write: () => R): R {
    scope.push(bound);
    const written = write();
    scope.pop();
    return written;
  }

  /** A function of a list and of a constructor with fields, which returns a number. */
  script(): Expr<unknown> {
    return fn<[Data, Data], Int>((list, data) =>
      bind(
        [u.unList(list), u.unConstr(data)],
        (list, pair) => this.within(this.lists, list, () => this.within(this.pairs, pair, () => this.int(4))),
      )
    );
  }

  private int(depth: number): Expr<Int> {
    const less = depth - 1;
    const leaf = () =>
      this.ints.length > 0 && this.random() < 0.6 ? this.one(this.ints) : int(Math.floor(this.random() * 4));
    if (depth <= 0) return leaf();
    return this.pick<Expr<Int>>(
      leaf,
      () => u.add(this.int(less), this.int(less)),
      () => u.modulo(this.int(less), int(2)),
      () => u.unInt(u.head(this.list(less))),
      () => u.first(this.pair(less)),
      () => choose(this.bool(less), this.int(less), this.int(less)),
      () => check(this.bool(less), "", this.int(less)),
      () => this.binding(less, () => this.int(less)),
      () => this.binding(less, () => this.int(less)),
      () => ifEmpty(this.list(less), this.int(less), this.int(less)),
      () =>
        bind(
          [this.list(less)],
          (list) =>
            this.within(this.lists, list, () =>
              ifEmpty(
                list,
                this.int(less),
                this.within(this.lists, u.tail(list), () => this.int(less)),
              )),
        ),
      () =>
        untuple(
          tuple<[Int, List<Data>]>(this.int(less), this.list(less)),
          (n, list) => this.within(this.ints, n, () => this.within(this.lists, list, () => this.int(less))),
        ),
      () =>
        bind(
          [this.int(less)],
          (n) =>
            choose(u.equalInts(n, int(0)), this.int(less), choose(u.equalInts(n, int(1)), this.int(less), fail(""))),
        ),
      () => branch(u.modulo(this.int(less), int(3)), this.int(less), this.int(less), this.int(less)),
      () =>
        bind([
          fn<[Int, List<Data>], Int>((n, list) =>
            this.within(this.ints, n, () => this.within(this.lists, list, () => this.int(less)))
          ),
        ], (fun) => u.add(call(fun, this.int(less), this.list(0)), call(fun, this.int(0), this.list(less)))),
      () =>
        call(
          recursive<[List<Data>, Int], Int>((self) =>
            fn((list, n) =>
              ifEmpty(list, n, self(u.tail(list), this.within(this.ints, n, () => this.int(Math.min(less, 2)))))
            )
          ),
          this.list(less),
          this.int(less),
        ),
    );
  }

  private binding(depth: number, write: () => Expr<Int>): Expr<Int> {
    return this.pick(
      () => bind([this.int(depth)], (n) => this.within(this.ints, n, write)),
      () => bind([this.list(depth)], (list) => this.within(this.lists, list, write)),
      () => bind([this.pair(depth)], (pair) => this.within(this.pairs, pair, write)),
      () =>
        bind(
          [this.int(depth), this.list(depth), this.pair(depth)],
          (n, list, pair) =>
            this.within(this.ints, n, () => this.within(this.lists, list, () => this.within(this.pairs, pair, write))),
        ),
    );
  }

  private bool(depth: number): Expr<Bool> {
    const less = depth - 1;
    if (depth <= 0) return bool(this.random() < 0.5);
    return this.pick<Expr<Bool>>(
      () => u.equalInts(this.int(less), int(Math.floor(this.random() * 3))),
      () => u.less(this.int(less), this.int(less)),
      () => u.isEmpty(this.list(less)),
      () => and(this.bool(less), this.bool(less)),
      () => or(this.bool(less), this.bool(less)),
      () => choose(this.bool(less), this.bool(less), this.bool(less)),
    );
  }

  private list(depth: number): Expr<List<Data>> {
    const less = depth - 1;
    if (depth <= 0) return this.one(this.lists);
    return this.pick<Expr<List<Data>>>(
      () => this.one(this.lists),
      () => u.tail(this.list(less)),
      () => u.tail(u.tail(this.list(less))),
      () => u.second(this.pair(less)),
      () => u.cons(u.intData(this.int(less)), this.list(less)),
      () => choose(this.bool(less), this.list(less), this.list(less)),
    );
  }

  private pair(depth: number): Expr<Pair<Int, List<Data>>> {
    return depth <= 0 || this.random() < 0.5
      ? this.one(this.pairs)
      : u.unConstr(u.constrData(u.modulo(this.int(depth - 1), int(5)), this.list(depth - 1)));
  }
}

it("random programs have the same result in both forms", () => {
  const seed = Math.floor(Math.random() * 1_000_000);
  const ends = { failed: 0, value: 0 };
  for (let i = 0; i < cases(60, 300); i++) {
    const script = new Writer(seeded(seed + i)).script();
    for (const args of [[[1n, 2n, 3n, 4n, 5n], constr(1, 7n, 8n, 0n)], [[], constr(0)], [[0n], constr(2, 1n)]]) {
      const { value } = both(script, ...args as PlutusData[]);
      ends[value === "failed" ? "failed" : "value"]++;
    }
  }
  console.log(`seed ${seed}`, ends);
  expect(Math.min(ends.failed, ends.value)).toBeGreaterThan(cases(20, 100));
});
