/** An answer about a fact is accepted if it is true, and never if it is false, whatever its source. */
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { bytesText } from "#src/contract/text.ts";
import { addressText, enterpriseAddress } from "#src/cardano/address.ts";
import { keyBytes } from "#src/client/factKey.ts";
import { type FactProof, type FactQuestion, verifyFact } from "#src/client/proofs.ts";
import { digest, initHash } from "#src/forestry/hash.ts";
import { proofJson, readProofJson } from "#src/forestry/json.ts";
import { encodeProof, type Proof } from "#src/forestry/proof.ts";
import { leafOf } from "#src/forestry/trie.ts";
import { TOKEN, TokenWithFacts } from "../../support/tokens/factAnswers.ts";
import { modelProof, modelRoot } from "../../support/contract/forestryModel.ts";
import { bend, crowds, dice, type Roll } from "../../support/contract/proofFuzz.ts";
import { cases } from "../../support/base/longTests.ts";

beforeAll(initHash);

const numbered = (count: number) =>
  new Map(Array.from({ length: count }, (_, i) => [`key ${i}`, `value ${i}`] as const));
const asking = (token: TokenWithFacts, key: string, by: keyof TokenWithFacts["trusted"] = "datum"): FactQuestion => ({
  tokenId: TOKEN,
  key,
  trusted: token.trusted[by],
});
const code = (answer: unknown, question: FactQuestion) => {
  const checked = verifyFact(answer, question);
  return checked.ok ? "believed" : checked.error.code;
};

describe("a true answer", () => {
  const odd = new Map([["", ""], ["a/b", "c/d"], ["ключ 🗝\0", "\n"], ["\udcff\udc80x", "\udcfe"], [
    "constructor",
    "{}",
  ]]);

  it.each(["root", "datum", "output"] as const)("is accepted by the %s of another provider", (by) => {
    for (const facts of [new Map<string, string>(), numbered(1), numbered(2), odd, numbered(300)]) {
      const token = new TokenWithFacts(facts);
      const root = toHex(token.trie.root);
      for (const [key, value] of [...facts].slice(0, 20)) {
        expect(verifyFact(token.answer(key), asking(token, key, by))).toEqual({
          ok: true,
          value: { included: true, value: keyBytes(value), text: value, root, owner: token.owner },
        });
      }
      for (const key of ["missing", "key 300", "\udc80", "."]) {
        expect(verifyFact(token.answer(key), asking(token, key, by))).toEqual({
          ok: true,
          value: { included: false, root, owner: token.owner },
        });
      }
    }
  });

  it("is accepted for a key in bytes, and without the key if it was queried by its digest", () => {
    const token = new TokenWithFacts(odd);
    const { key: _key, keyHex: _keyHex, ...answer } = token.answer("nothing");
    expect(code(answer, { ...asking(token, ""), key: utf8("nothing") })).toBe("believed");
  });

  it("is refused for another key, another token or another state", () => {
    const token = new TokenWithFacts(numbered(50));
    const later = new TokenWithFacts(numbered(51));
    const answer = token.answer("key 7");
    expect(code(answer, asking(token, "key 8"))).toBe("other_question");
    expect(code(answer, { ...asking(token, "key 7"), tokenId: "ac".repeat(32) })).toBe("other_question");
    for (const by of ["root", "datum", "output"] as const) {
      expect(code(answer, asking(later, "key 7", by))).toBe("state_differs");
    }
    const sold = new TokenWithFacts(numbered(50), "ee".repeat(28));
    expect(code(answer, asking(sold, "key 7"))).toBe("state_differs");
    const { datum } = token.trusted;
    const question = { ...asking(token, "key 7"), trusted: { ...datum, outputRefId: `${"00".repeat(32)}-0` } };
    expect(code(answer, question as FactQuestion)).toBe("state_differs");
  });

  it("is refused with an output that is not a state of the token", () => {
    const token = new TokenWithFacts(numbered(5));
    const answer = token.answer("key 1");
    const { datum, output } = token.trusted as {
      datum: { policyId: string; datum: string };
      output: { output: string };
    };
    const assetName = TOKEN;
    const wrong = [
      { root: "" },
      { root: `${toHex(token.trie.root)}00` },
      { ...datum, assetName: "ac".repeat(32) },
      { ...datum, assetName, datum: "" },
      { ...datum, assetName, datum: "00" },
      { ...datum, assetName, datum: `${datum.datum}00` },
      { ...datum, assetName, policyId: "" },
      { policyId: "ac".repeat(28), output: output.output },
      { policyId: datum.policyId, output: `${output.output}00` },
      { policyId: datum.policyId, output: "zz" },
      {},
    ];
    for (const trusted of wrong) {
      const question = { tokenId: TOKEN, key: "key 1", trusted } as FactQuestion;
      expect(code(answer, question)).toBe("untrusted");
      expect(verifyFact(answer, question)).toMatchObject({
        error: { message: expect.stringMatching(/^trusted\.\w+ must be /) },
      });
    }
    const other = { ...datum, assetName, policyId: "ac".repeat(28) };
    expect(code(answer, { tokenId: TOKEN, key: "key 1", trusted: other })).toBe("state_differs");
  });
});

describe("by the definition of the trie", () => {
  it("presence is accepted for present keys and refused for others, with any proof", () => {
    const crowd = crowds().filter((group) => group.length > 6).slice(0, 12).flatMap((group) => group.slice(0, 4));
    const key = fc.constantFrom(...crowd);
    const entries = fc.uniqueArray(fc.tuple(key, fc.string({ maxLength: 3 })), { maxLength: 12, selector: ([k]) => k });
    fc.assert(
      fc.property(entries, key, fc.string({ maxLength: 3 }), (all, queriedKey, other) => {
        const facts = new Map(all);
        const token = new TokenWithFacts(facts);
        const leaves = all.map(([k, v]) => leafOf(utf8(k), utf8(v)));
        expect(toHex(token.trie.root)).toBe(toHex(modelRoot(leaves)));
        const path = digest(utf8(queriedKey));
        const value = facts.get(queriedKey);
        const proof = modelProof(value === undefined ? [...leaves, { path, value: path }] : leaves, path);
        const answer = token.answer(queriedKey, proof);
        expect(code(answer, asking(token, queriedKey))).toBe("believed");
        const opposite = value === undefined ? withValue(answer, other) : withoutValue(answer);
        expect(code(opposite, asking(token, queriedKey))).toBe("proof_fails");
        if (value !== undefined && value !== other) {
          expect(code(withValue(answer, other), asking(token, queriedKey))).toBe("proof_fails");
        }
      }),
      { numRuns: cases(40, 150) },
    );
  });
});

type FactAnswer = FactProof;

function withValue(answer: FactAnswer, text: string): FactAnswer {
  return { ...answer, included: true, value: text, valueHex: toHex(utf8(text)) };
}

function withoutValue({ value: _value, valueHex: _valueHex, ...answer }: FactAnswer): FactAnswer {
  return { ...answer, included: false };
}

/** A proof in the answer's form, with both forms equal. */
function withProof(answer: FactAnswer, proof: Proof): FactAnswer {
  return { ...answer, proof: { steps: proofJson(proof), cbor: toHex(encodeProof(proof)) } as FactAnswer["proof"] };
}

function withKey(answer: FactAnswer, key: string): FactAnswer {
  const bytes = utf8(key);
  return { ...answer, key, keyHex: toHex(bytes), path: toHex(digest(bytes)) };
}

/** Every text in an answer, changed by one digit, character or length. */
function scratched(answer: FactAnswer, roll: Roll): { at: string; answer: FactAnswer } {
  const copy = structuredClone(answer) as FactAnswer;
  const places: { at: string; get: string | number | boolean; set: (value: unknown) => void }[] = [];
  const walk = (node: Record<string, unknown>, at: string) => {
    for (const [name, value] of Object.entries(node)) {
      const place = `${at}.${name}`;
      // Members that no datum contains: they are the service's claim alone.
      if (place === ".point" || place === ".outputRefId") continue;
      if (typeof value === "object" && value !== null) walk(value as Record<string, unknown>, place);
      else places.push({ at: place, get: value as string, set: (other) => node[name] = other });
    }
  };
  walk(copy as unknown as Record<string, unknown>, "");
  const { at, get, set } = places[roll(places.length)]!;
  if (typeof get === "boolean") set(!get);
  else if (typeof get === "number") set([get + 1, get - 1, get + 0.5, -get - 1, String(get), null][roll(6)]);
  else {
    const i = roll(get.length + 1);
    const digit = "0123456789abcdef"[roll(16)]!;
    const texts = [
      get.slice(0, i) + (get[i] === digit ? "g" : digit) + get.slice(i + 1),
      get.slice(0, i) + get.slice(i + 1 + roll(4)) + "z",
      get + "00",
      get === "" ? "00" : "",
    ];
    set([...texts, null, undefined, 7, [get]][roll(8)]);
  }
  return { at, answer: copy };
}

describe("a false answer", () => {
  const roll = dice(20_260);
  const groups = crowds().filter((group) => group.length > 5);

  /** A token with crowded keys, and keys that are not in it. */
  function crowded(): { token: TokenWithFacts; present: string[]; absent: string[] } {
    const keys = Array.from({ length: 1 + roll(8) }, () => groups[roll(groups.length)]!)
      .flatMap((group) => group.slice(0, 2 + roll(4)));
    const all = [...new Set(keys)];
    const absent = all.splice(0, 1 + roll(Math.min(3, all.length - 1)));
    return { token: new TokenWithFacts(new Map(all.map((key) => [key, `v${roll(3)}`]))), present: all, absent };
  }

  it("with any change of its content is refused", () => {
    for (let i = 0; i < cases(40, 150); i++) {
      const { token, present, absent } = crowded();
      const key = [...present, ...absent][roll(present.length + absent.length)]!;
      const honest = token.answer(key);
      const question = asking(token, key, (["root", "datum", "output"] as const)[roll(3)]);
      expect(code(honest, question)).toBe("believed");
      for (let j = 0; j < 20; j++) {
        const { at, answer } = scratched(honest, roll);
        // A key or value may be missing where it is known otherwise.
        if (/^\.key(Hex)?$/.test(at) && answer[at.slice(1) as "key"] === undefined) continue;
        if (code(answer, question) === "believed") throw new Error(`${at} changed: ${JSON.stringify(answer)}`);
      }
    }
  });

  it("is refused with any proof: of other keys, of other tokens, changed, in parts and combined", () => {
    let tried = 0;
    while (tried < cases(2_000, 6_000)) {
      const { token, present, absent } = crowded();
      const other = crowded().token;
      const key = [...present, ...absent][roll(present.length + absent.length)]!;
      const value = token.facts.get(key);
      const question = asking(token, key);
      const near = present[roll(present.length)]!;
      const sources = [token.answer(key), token.answer(near), token.answer(absent[0]!), other.answer(near)]
        .map((answer) => readProofJson(answer.proof.steps)!);
      const honest = token.answer(key);
      const falseAnswers = value === undefined
        ? [withValue(honest, "v0"), withValue(honest, ""), withKey(withValue(token.answer(near), "v1"), key)]
        : [withValue(honest, `${value}!`), withoutValue(honest), withKey(withoutValue(token.answer(near)), key)];
      for (const falseAnswer of falseAnswers) {
        for (let i = 0; i < 12; i++) {
          let proof = sources[roll(sources.length)]!;
          for (let times = roll(4); times > 0 && proof.length > 0; times--) proof = bend(proof, roll);
          if (roll(6) === 0) proof = [...proof, ...sources[roll(sources.length)]!.slice(roll(3))];
          if (roll(6) === 0) proof = proof.toReversed();
          tried++;
          let answer: FactAnswer;
          try {
            answer = withProof(falseAnswer, proof);
          } catch {
            continue; // no such proof can be encoded
          }
          if (code(answer, question) === "believed") throw new Error(`${key}: ${JSON.stringify(answer)}`);
        }
      }
    }
  });

  it("about an invented state is refused by the trusted value", () => {
    for (let i = 0; i < cases(30, 100); i++) {
      const { token, present } = crowded();
      const key = present[roll(present.length)]!;
      const made = new TokenWithFacts(new Map([...token.facts, [key, "a lie"]]));
      const falseAnswer = made.answer(key);
      expect(code(falseAnswer, asking(made, key))).toBe("believed");
      for (const by of ["root", "datum", "output"] as const) {
        expect(code(falseAnswer, asking(token, key, by))).toBe("state_differs");
        expect(code({ ...falseAnswer, root: toHex(token.trie.root) }, asking(token, key, by))).toBe("malformed");
        const { stateOutput, root } = token.answer(key);
        expect(code({ ...falseAnswer, root, stateOutput }, asking(token, key, by))).toBe("proof_fails");
      }
    }
  });

  it("that is true but contradicts itself, or is not in the service's form, is refused", () => {
    const token = new TokenWithFacts(new Map([...numbered(40), ["key 7", "\xff value"]]));
    const [there, absent] = [token.answer("key 7"), token.answer("missing")];
    const { stateOutput, proof } = there;
    const step = proof.steps[0]!;
    if (step.type !== "branch") throw new Error("another proof than this test was written for");
    const elsewhere = addressText(enterpriseAddress(0, { kind: "script", hash: "ab".repeat(28) }));
    const upper = (text: string) => text.toUpperCase();
    for (
      const answer of [
        { ...there, valueHex: upper(there.valueHex!) },
        { ...there, stateOutput: { ...stateOutput, address: elsewhere } },
        { ...there, stateOutput: { ...stateOutput, cbor: upper(stateOutput.cbor) } },
        { ...there, proof: { ...proof, cbor: upper(proof.cbor) } },
        {
          ...there,
          proof: { ...proof, steps: [{ ...step, neighbors: upper(step.neighbors) }, ...proof.steps.slice(1)] },
        },
        { ...there, proof: { ...proof, steps: [{ ...step, skip: 64 }, ...proof.steps.slice(1)] } },
      ]
    ) expect(code(answer, asking(token, "key 7"))).toBe("malformed");
    for (const answer of [{ ...absent, value: "" }, { ...absent, valueHex: "" }, { ...absent, included: 0 }]) {
      expect(code(answer, asking(token, "missing"))).toBe("malformed");
    }
  });

  it("of any other form is refused without an exception", () => {
    const token = new TokenWithFacts(numbered(3));
    const question = asking(token, "key 1");
    const honest = token.answer("key 1");
    for (const answer of [undefined, null, 0, "", [], {}, { ...honest, proof: null }, { ...honest, stateOutput: 1 }]) {
      expect(code(answer, question)).not.toBe("believed");
    }
    fc.assert(fc.property(fc.jsonValue(), (answer) => code(answer, question) !== "believed"), { numRuns: 200 });
    const members = fc.constantFrom(...Object.keys(honest));
    fc.assert(
      fc.property(members, fc.jsonValue(), (name, value) => {
        if (name === "point" || name === "outputRefId") return true;
        return JSON.stringify((honest as Record<string, unknown>)[name]) === JSON.stringify(value) ||
          code({ ...honest, [name]: value }, question) !== "believed";
      }),
      { numRuns: 500 },
    );
  });
});

describe("the text of a key", () => {
  it("represents its bytes, and no two texts represent the same", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
        expect(keyBytes(bytesText(bytes))).toEqual(bytes);
      }),
    );
    for (const text of ["\ud800", "\udc7f", "\udd00", "\udcc3\udca9", "a\ud83d"]) {
      expect(() => keyBytes(text)).toThrow(TypeError);
    }
    expect(keyBytes("\udcff")).toEqual(fromHex("ff"));
  });
});
