/** `arbor verify`: checks an answer from a file against the trusted values in its options. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { type TrustOptions, verify } from "#src/cli/proofs.ts";
import { TOKEN, TokenWithFacts } from "../../support/tokens/factAnswers.ts";

const folder = mkdtempSync(path.join(tmpdir(), "arbor-cli-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const token = new TokenWithFacts(new Map([["k", "v"], ["other", "x"]]));
const { policyId: policy, datum, output } = { ...token.trusted.output, ...token.trusted.datum } as Record<
  string,
  string
>;
const root = toHex(token.trie.root);
const certain = { root, owner: token.owner };

function file(answer: unknown): string {
  const name = path.join(folder, "answer.json");
  writeFileSync(name, typeof answer === "string" ? answer : JSON.stringify(answer));
  return name;
}

describe("verify", () => {
  it.each<[string, TrustOptions]>([["root", { root }], ["datum", { policy, datum }], ["output", { policy, output }]])(
    "states what is proven by the %s",
    async (_by, known) => {
      const there = await verify(file(token.answer("k")), TOKEN, "k", known);
      expect(there).toEqual({ included: true, value: "v", ...certain });
      const absent = await verify(file(token.answer("none")), TOKEN, "none", known);
      expect(absent).toEqual({ included: false, ...certain });
    },
  );

  it("refuses a false answer, an answer to another query, and other files", async () => {
    const falseAnswer = { ...token.answer("k"), value: "w", valueHex: "77" };
    await expect(verify(file(falseAnswer), TOKEN, "k", { root })).rejects.toMatchObject({ code: "proof_fails" });
    await expect(verify(file(token.answer("k")), TOKEN, "other", { root })).rejects.toMatchObject({
      code: "other_question",
    });
    await expect(verify(file(token.answer("k")), TOKEN, "k", { root: "00".repeat(32) })).rejects.toMatchObject({
      code: "state_differs",
    });
    await expect(verify(file("{"), TOKEN, "k", { root })).rejects.toThrow("not JSON");
    await expect(verify(path.join(folder, "missing"), TOKEN, "k", { root })).rejects.toThrow("cannot be read");
  });

  it("requires exactly one trusted value", async () => {
    const answer = file(token.answer("k"));
    for (const known of [{}, { policy }, { root, policy, datum }, { policy, datum, output }]) {
      await expect(verify(answer, TOKEN, "k", known)).rejects.toThrow("--root, --datum and --output");
    }
    await expect(verify(answer, TOKEN, "k", { datum })).rejects.toThrow("--policy");
    await expect(verify(answer, "ab", "k", { root })).rejects.toThrow("not a token id");
  });
});
