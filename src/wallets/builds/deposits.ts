/** Net deposits of a transaction: paid less returned. */
import type { ScannedTransaction } from "#src/cardano/block.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { ownedCredential } from "#src/wallets/index/credential.ts";
import type { BalanceInput } from "#src/wallets/builds/types.ts";

/**
 * Lovelace that certificates, proposals and the donation cost; negative where more is returned. A pool pays
 * once: not where it is among `pools` (registered ones), and not twice in one transaction. `deposits` are those of accounts,
 * by `key-<hash>` or `script-<hash>`.
 */
export function depositsOf(
  { certificates, proposals = [], donation = 0n }: ScannedTransaction,
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
  return proposals.reduce((total, deposit) => total + deposit, sum + donation);
}
