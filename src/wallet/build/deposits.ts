/** Deposits that a transaction pays, less those that it gets back. */
import { as, asInt, asSet, decode } from "#src/cardano/cbor.ts";
import type { Certificate } from "#src/cardano/certificates.ts";
import type { Parameters } from "#src/cardano/parameters.ts";

/** Fields of a body that cost: proposals, each beginning with its deposit, and a gift to the treasury. */
const PROPOSALS = 20n;
const DONATION = 22n;

/**
 * Lovelace that certificates, proposals and the donation of a body cost; negative where more comes back. A pool that is registered again costs
 * nothing, which cannot be seen here: it is taken for a new one. `paid` are deposits of accounts by `key-<hash>` or `script-<hash>`.
 */
export function depositsOf(
  certificates: readonly Certificate[],
  body: ReadonlyMap<bigint, Uint8Array>,
  { keyDeposit, poolDeposit }: Pick<Parameters, "keyDeposit" | "poolDeposit">,
  paid: ReadonlyMap<string, bigint> = new Map(),
): bigint {
  let sum = 0n;
  for (const certificate of certificates) {
    switch (certificate.kind) {
      case "register":
        sum += certificate.deposit ?? keyDeposit;
        break;
      case "unregister": {
        const { kind, hash } = certificate.credential;
        sum -= certificate.refund ?? paid.get(`${kind}-${hash}`) ?? keyDeposit;
        break;
      }
      case "register pool":
        sum += poolDeposit;
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
