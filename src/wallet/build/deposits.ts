/** Deposits that a transaction pays, less those that it gets back. */
import { as, asInt, asSet, decode } from "#src/cardano/cbor.ts";
import type { Certificate } from "#src/cardano/certificates.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { BalanceInput } from "#src/wallet/build/types.ts";

/** Fields of a body that cost: proposals, each beginning with its deposit, and a gift to the treasury. */
const PROPOSALS = 20n;
const DONATION = 22n;

/**
 * Lovelace that certificates, proposals and the donation of a body cost; negative where more comes back. A pool costs once: not where it is
 * among `pools`, those that are registered, nor a second time in one body. `deposits` are those of accounts by `key-<hash>` or `script-<hash>`.
 */
export function depositsOf(
  certificates: readonly Certificate[],
  body: ReadonlyMap<bigint, Uint8Array>,
  { keyDeposit, poolDeposit }: Pick<Parameters, "keyDeposit" | "poolDeposit">,
  { deposits, pools = [] }: Pick<BalanceInput, "deposits" | "pools"> = {},
): bigint {
  const paid = new Set(pools);
  let sum = 0n;
  for (const certificate of certificates) {
    switch (certificate.kind) {
      case "register":
        sum += certificate.deposit ?? keyDeposit;
        break;
      case "unregister": {
        const { kind, hash } = certificate.credential;
        sum -= certificate.refund ?? deposits?.get(`${kind}-${hash}`) ?? keyDeposit;
        break;
      }
      case "register pool":
        if (!paid.has(certificate.pool)) sum += poolDeposit;
        paid.add(certificate.pool);
        break;
      case "register drep":
        sum += certificate.deposit;
        break;
      case "unregister drep":
        sum -= certificate.refund;
    }
  }
  const proposals = body.get(PROPOSALS);
  if (proposals) { for (const one of asSet(decode(proposals))) sum += asInt(as(one, "array").value[0]); }
  const donation = body.get(DONATION);
  return donation ? sum + asInt(decode(donation)) : sum;
}
