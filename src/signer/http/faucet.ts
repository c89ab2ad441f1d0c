/** Ada for a wallet from the admin host of Yaci DevKit, or from a devnet, which has the same endpoint. */
import { z } from "zod";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";

const TOPUP = "/local-cluster/api/addresses/topup";
/** Yaci DevKit answers once a block has the payment, at most after this many milliseconds. */
const LONGEST_MS = 30_000;

export interface Faucet {
  /**
   * Pays ada to an address; gives the transaction's hash where the source says it. `bad_amount`: it refuses the amount.
   * `faucet_unavailable`: it is away or has no ada.
   */
  topup(
    address: string,
    ada: number,
  ): Promise<Result<string | undefined, Failure<"bad_amount" | "faucet_unavailable">>>;
}

const answer = z.looseObject({
  status: z.boolean().optional(),
  txHash: z.string().regex(/^[0-9a-f]{64}$/).optional().catch(undefined),
});

/** The faucet at an admin host. */
export function httpFaucet(url: string): Faucet {
  const endpoint = new URL(TOPUP, url);
  const unavailable = (why: string) => fail("faucet_unavailable", `The faucet at ${endpoint.host} ${why}.`);
  return {
    async topup(address, adaAmount) {
      let response: Response;
      let body: unknown;
      try {
        response = await fetch(endpoint, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ address, adaAmount }),
          redirect: "error",
          signal: AbortSignal.timeout(LONGEST_MS),
        });
        body = await response.json().catch(() => undefined);
      } catch {
        return unavailable("does not answer");
      }
      if (response.status >= 400 && response.status < 500) {
        return fail("bad_amount", `The faucet refuses to pay ${adaAmount} ada.`);
      }
      const read = answer.safeParse(body);
      if (!response.ok || !read.success || read.data.status === false) return unavailable("did not pay");
      return ok(read.data.txHash);
    },
  };
}
