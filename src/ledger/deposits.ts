/** Deposits and refunds that a transaction's body states, reckoned against the state before it. */
import type { Parameters } from "#src/cardano/parameters.ts";
import type { Body } from "#src/cardano/conway/body.ts";
import { credentialKey, type LedgerState } from "#src/ledger/state.ts";

/** Lovelace to be paid for registrations and proposals (ledger: `getTotalDepositsTxBody`): what the parameters ask, whatever is stated. */
export function deposits(
  parameters: Parameters,
  { certificates, proposals }: Body,
  pools: LedgerState["pools"],
): bigint {
  let sum = parameters.govActionDeposit * BigInt(proposals.length);
  const newPools = new Set<string>();
  for (const certificate of certificates) {
    if (certificate.kind === "register") sum += parameters.keyDeposit;
    else if (certificate.kind === "register drep") sum += parameters.drepDeposit;
    else if (certificate.kind === "register pool" && !pools.get(certificate.pool)) newPools.add(certificate.pool);
  }
  return sum + parameters.poolDeposit * BigInt(newPools.size);
}

/**
 * Lovelace refunded for ended registrations (ledger: `getTotalRefundsTxBody`): the deposits paid at registration, in this
 * transaction or an earlier one.
 */
export function refunds(
  parameters: Parameters,
  { certificates }: Body,
  { accounts, dreps }: Pick<LedgerState, "accounts" | "dreps">,
): bigint {
  let sum = 0n;
  const registered = new Set<string>();
  const drepsHere = new Map<string, bigint>();
  for (const certificate of certificates) {
    switch (certificate.kind) {
      case "register":
        registered.add(credentialKey(certificate.credential));
        break;
      case "unregister": {
        const key = credentialKey(certificate.credential);
        sum += registered.delete(key) ? parameters.keyDeposit : accounts.get(key)?.deposit ?? 0n;
        break;
      }
      case "register drep":
        drepsHere.set(credentialKey(certificate.credential), certificate.deposit);
        break;
      case "unregister drep": {
        const key = credentialKey(certificate.credential);
        sum += drepsHere.get(key) ?? dreps.get(key)?.deposit ?? 0n;
        drepsHere.delete(key);
        break;
      }
    }
  }
  return sum;
}
