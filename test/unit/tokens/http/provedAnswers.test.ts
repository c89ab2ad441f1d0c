/** Refusals of proven answers that no devnet gives. */
import { describe, expect, it } from "vitest";
import { provedFacts, provedRequests, provedToken, provedTokens } from "#src/tokens/http/provedAnswers.ts";

describe("proven answers", () => {
  it("are refused by an instance that keeps no root of the unspent outputs", async () => {
    const service = { networkId: 0, utxoRoot: undefined } as const;
    const token = "ab".repeat(32);
    for (
      const answer of [
        () => provedTokens(service),
        () => provedToken(service, token),
        () => provedRequests(service),
        () => provedFacts(service, token),
      ]
    ) {
      await expect(answer()).rejects.toMatchObject({ status: 501, code: "no_utxo_root" });
    }
  });
});
