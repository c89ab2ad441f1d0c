/** Net deposits of a transaction: paid less returned. */
import { as, asInt, asSet, decode } from "#src/cardano/cbor.ts";
import type { Certificate } from "#src/cardano/certificates.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { ownedCredential } from "#src/wallet/index/credential.ts";
import type { BalanceInput } from "#src/wallet/build/types.ts";

/**
 * Body fields that cost lovelace: proposals, each of which begins with its deposit, and the donation to the treasury.
 */
const PROPOSALS = 20n;
const DONATION = 22n;

/**
 * Lovelace that certificates, proposals and the donation of a body cost; negative where more is returned. A pool pays
 * once: not where it is among `pools` (registered ones), and not twice in one body. `deposits` are those of accounts,
 * by `key-<hash>` or `script-<hash>`.
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
      case "unregister":
        sum -= certificate.refund ?? deposits?.get(ownedCredential(certificate.credential)) ?? keyDeposit;
        break;
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
