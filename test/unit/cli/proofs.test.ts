/** `arbor verify`: checks an answer from a file against the trusted values in its options. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { factsVerifier, type TrustOptions, verify } from "#src/cli/proofs.ts";
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
  });

  it.each<[TrustOptions, string]>([
    [{ root: "" }, "--root must be the root of the facts, 64 hexadecimal digits; it is empty."],
    [{ root: "0xab" }, "--root must be the root of the facts, 64 hexadecimal digits, not 0xab."],
    [{ root: "zz".repeat(60) }, `64 hexadecimal digits, not ${"zz".repeat(35)}….`],
    [
      { policy: "", datum },
      "--policy must be the policy id of the token, the contract's hash of 56 hexadecimal digits",
    ],
    [{ policy, datum: "" }, "--datum must be the inline datum of the token's state output, as CBOR in hexadecimal"],
    [{ policy, datum: "00" }, "--datum must be the inline datum of a state of a token, not 00."],
    [
      { policy, output: "state.cbor" },
      "--output must be the token's state output, as CBOR in hexadecimal, not state.cbor.",
    ],
    [{ policy: "ac".repeat(28), output }, `--output must be an output of the policy with the token ${TOKEN}`],
  ])("names the malformed option: %j", async (known, message) => {
    const refused = verify(file(token.answer("k")), TOKEN, "k", known);
    await expect(refused).rejects.toMatchObject({ code: "untrusted", message: expect.stringContaining(message) });
    expect(() => factsVerifier(TOKEN, known)).toThrow(message);
  });
});
