/** A set of facts is accepted if it is complete and of the trusted state, and never otherwise, however it is divided. */
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { parseJson, toJson } from "#src/base/json.ts";
import { keyBytes } from "#src/client/factKey.ts";
import { type FactsAnswer, type FactSetQuestion, type FactSource, verifyFactSet } from "#src/client/factSet.ts";
import { initHash } from "#src/forestry/hash.ts";
import { TOKEN, TokenWithFacts } from "../../support/tokens/factAnswers.ts";

beforeAll(initHash);

const numbered = (count: number) =>
  new Map(Array.from({ length: count }, (_, i) => [`key ${i}`, `value ${i}`] as const));
const ODD = new Map([["", ""], ["a/b", "c/d"], ["ключ 🗝\0", "\n"], ["\udcff\udc80x", "\udcfe"], ["__proto__", "p"], [
  "constructor",
  "{}",
], ["7", "-1"]]);

const answer = (facts: Iterable<readonly [string, string]>): FactsAnswer => Object.fromEntries(facts);
const about = (token: TokenWithFacts, by: keyof TokenWithFacts["trusted"] = "root"): FactSetQuestion => ({
  tokenId: TOKEN,
  trusted: token.trusted[by],
});
const code = async (facts: unknown, question: FactSetQuestion) => {
  const checked = await verifyFactSet(facts as FactSource, question);
  return checked.ok ? "complete" : checked.error.code;
};
async function* later<T>(items: readonly T[]) {
  yield* items;
}
/** Facts as they come over HTTP, divided into pages of some sizes. */
function pagesOf(facts: ReadonlyMap<string, string>, sizes: readonly number[]): FactsAnswer[] {
  const entries = [...facts];
  const pages = sizes.map((size) => answer(entries.splice(0, size)));
  return [...pages, answer(entries)].map((page) => parseJson(toJson(page)) as FactsAnswer);
}

describe("a complete set", () => {
  it.each(["root", "datum", "output"] as const)("is accepted by the %s of another provider", async (by) => {
    for (const facts of [new Map<string, string>(), numbered(1), numbered(2), ODD, numbered(300)]) {
      const token = new TokenWithFacts(facts);
      const proven = {
        ok: true,
        value: {
          root: toHex(token.trie.root),
          ...(by === "root" ? {} : { owner: token.owner }),
          facts: facts.size,
        },
      };
      const slotted = Object.fromEntries([...facts].map(([key, value]) => [key, { value, slot: 7 }]));
      const sources: FactSource[] = [
        answer(facts),
        slotted,
        facts,
        [answer(facts)],
        pagesOf(facts, [1, 0, 5]).reverse(),
        later(pagesOf(facts, [1, 0, 5])),
      ];
      for (const source of sources) expect(await verifyFactSet(source, about(token, by))).toEqual(proven);
      const question = { tokenId: TOKEN.toUpperCase(), trusted: token.trusted[by] };
      expect(await verifyFactSet(facts, question)).toEqual(proven);
    }
  });

  it("is accepted in hexadecimal", async () => {
    const token = new TokenWithFacts(ODD);
    const hex = answer([...ODD].map(([key, value]) => [toHex(keyBytes(key)), toHex(keyBytes(value))]));
    expect(await code(hex, { ...about(token), encoding: "hex" })).toBe("complete");
    expect(await code(hex, about(token))).toBe("root_differs");
    expect(await code(ODD, { ...about(token), encoding: "hex" })).toBe("malformed");
  });

  it("is accepted without facts only for a token without facts", async () => {
    for (const nothing of [{}, [], [{}], new Map(), later([])]) {
      expect(await code(nothing, about(new TokenWithFacts(new Map())))).toBe("complete");
      expect(await code(nothing, about(new TokenWithFacts(numbered(1))))).toBe("root_differs");
    }
  });
});

describe("a set that is not complete", () => {
  const token = new TokenWithFacts(numbered(50));

  it("is refused: a fact is missing, added or changed, or the state is another one", async () => {
    const without = numbered(50);
    without.delete("key 7");
    for (const facts of [without, numbered(51), numbered(50).set("key 7", "value 8"), new Map(), numbered(49)]) {
      for (const by of ["root", "datum", "output"] as const) {
        expect(await code(facts, about(token, by))).toBe("root_differs");
      }
    }
    expect(await verifyFactSet(without, about(token))).toMatchObject({
      error: {
        details: { root: toHex(new TokenWithFacts(without).trie.root), trusted: toHex(token.trie.root), facts: 49 },
      },
    });
    const [first, second] = pagesOf(numbered(50), [25]);
    expect(await code([first], about(token))).toBe("root_differs");
    expect(await code([second, first], about(token))).toBe("complete");
  });

  it("is refused: a key is in two pages, with equal values or others", async () => {
    const pages = pagesOf(numbered(50), [10]);
    for (const again of [{ "key 3": "value 3" }, { "key 3": "other" }]) {
      expect(await code([...pages, again], about(token))).toBe("repeated_key");
    }
    const question = { ...about(token), encoding: "hex" as const };
    expect(await code([{ ab: "00" }, { AB: "00" }], question)).toBe("repeated_key");
  });

  it("is refused: pages of different states, each complete", async () => {
    const later = new TokenWithFacts(numbered(50).set("key 3", "value 4").set("key 40", "value 41"));
    const [before] = pagesOf(token.facts, [25]);
    const [, after] = pagesOf(later.facts, [25]);
    for (const state of [token, later]) expect(await code([before, after], about(state))).toBe("root_differs");
  });

  it("is refused with a trusted state that is none, or of another token", async () => {
    const { datum } = token.trusted;
    for (
      const trusted of [{ root: "" }, { root: "zz" }, {}, null, { ...datum, datum: "00" }, {
        ...datum,
        assetName: "ac".repeat(32),
      }]
    ) {
      expect(await code(token.facts, { tokenId: TOKEN, trusted } as FactSetQuestion)).toBe("untrusted");
    }
  });

  it("is refused, and never an exception, whatever the answers are", async () => {
    const question = about(token);
    for (
      const odd of [
        null,
        undefined,
        5,
        "text",
        [null],
        [[]],
        [["key 1", "value 1"]],
        { a: 1 },
        { a: null },
        {
          a: { value: 1 },
        },
        { a: { slot: 1 } },
        { facts: { a: "1" }, deleted: [], at: {} },
        { a: "\ud800" },
        { "\udcc3\udca9": "" },
      ]
    ) {
      expect([odd, await code(odd, question)]).toEqual([odd, "malformed"]);
      expect([odd, await code([...pagesOf(token.facts, []), odd], question)]).toEqual([odd, "malformed"]);
    }
    for (const odd of [{ a: "0" }, { zz: "00" }, { "": "0g" }]) {
      expect(await code(odd, { ...question, encoding: "hex" })).toBe("malformed");
    }
    await fc.assert(fc.asyncProperty(fc.anything({ withMap: true }), async (value) => {
      expect(await code(value, question)).not.toBe("complete");
    }));
  });

  it("leaves the errors of its source alone", async () => {
    async function* broken() {
      yield answer(numbered(1));
      throw new Error("the connection broke");
    }
    await expect(verifyFactSet(broken(), about(token))).rejects.toThrow("the connection broke");
  });
});

it("accepts exactly the facts of the state, however they are changed and divided", async () => {
  const texts = fc.oneof(fc.constantFrom("", "a", "b", "\udc80", "é"), fc.string({ maxLength: 3 }));
  const facts = fc.uniqueArray(fc.tuple(texts, texts), { maxLength: 12, selector: ([key]) => key })
    .filter((entries) => entries.flat().every((text) => text.isWellFormed() || /^\udc80$/.test(text)));
  await fc.assert(fc.asyncProperty(facts, facts, fc.array(fc.nat(4)), async (real, shown, sizes) => {
    const token = new TokenWithFacts(new Map(real));
    const same = new Map(real).size === shown.length &&
      shown.every(([key, value]) => token.facts.get(key) === value);
    expect(await code(pagesOf(new Map(shown), sizes), about(token))).toBe(same ? "complete" : "root_differs");
    expect(await code(pagesOf(token.facts, sizes), about(token))).toBe("complete");
  }));
});
