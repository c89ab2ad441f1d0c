/** Bodies that other wallet servers refuse: each is refused here by every endpoint that accepts its type. */
import { describe, expect, test } from "vitest";
import { putMalformed } from "../../../support/wallets/malformedBodies.ts";
import { edgeAlone, servedBy } from "../../../support/service/walletEdge.ts";

describe("a malformed body", () => {
  test("is refused by every endpoint of its type, with its position, and reaches no dependency", async () => {
    const app = edgeAlone();
    const { answers, places, samePlace } = await putMalformed(
      await servedBy(app),
      (path, init) => app.request(path, init),
    );
    for (const { where, status, code } of answers) expect([status, code], where).toEqual([400, "bad_request"]);
    expect(answers.length).toBeGreaterThan(150);
    // if other servers report the whole body, a part of it is named here
    expect(places - samePlace).toBeLessThanOrEqual(12);
  });

  const wallet = `/v2/wallets/${"ab".repeat(20)}`;
  const words = `${"abandon ".repeat(14)}address`.split(" ");
  test.each([
    ["POST", "/v2/wallets", { mnemonic_sentence: words, passphrase: "Secure Passphrase" }, "name"],
    ["PUT", wallet, {}, "name"],
    ["POST", `${wallet}/addresses/next-unused`, {}, "reference"],
  ])("with a text that PostgreSQL cannot store is refused: %s %s", async (method, path, body, member) => {
    for (const text of ["a\0b", "a\ud800", "\udc00\ud800"]) {
      const response = await edgeAlone().request(path, {
        method,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...body, [member]: text }),
      });
      const { code, message } = await response.json();
      expect([response.status, code, message]).toEqual([400, "bad_request", expect.stringContaining(member)]);
    }
  });
});
