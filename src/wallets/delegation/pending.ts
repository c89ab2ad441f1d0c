/** A wallet's stake account after its pending transactions. */
import { rewardAddress } from "#src/cardano/address.ts";
import { certified, type ScannedTransaction, withdrawn } from "#src/cardano/block.ts";
import type { Certificate } from "#src/cardano/certificates.ts";
import type { WalletAccount } from "#src/wallets/delegation/read.ts";

/**
 * The account as pending transactions leave it. Their order is that in which the ledger can take them: none registers
 * an account twice, or delegates one that is not registered.
 */
export function accountAfter(
  account: WalletAccount,
  transactions: readonly ScannedTransaction[],
  network: 0 | 1,
): WalletAccount {
  const address = rewardAddress(network, account.credential).hex;
  let after = account;
  const left = new Set(transactions);
  for (let applied = true; applied;) {
    applied = false;
    for (const transaction of left) {
      const next = certified(transaction).reduce<WalletAccount | undefined>(
        (state, certificate) => state && certify(state, certificate),
        after,
      );
      if (next === undefined) continue;
      after = withdrawn(transaction).has(address) ? { ...next, rewards: 0n } : next;
      left.delete(transaction);
      applied = true;
    }
  }
  return after;
}

/** The account after a certificate; undefined where the ledger refuses it. */
function certify(account: WalletAccount, certificate: Certificate): WalletAccount | undefined {
  const { kind } = certificate;
  if (kind !== "register" && kind !== "unregister" && kind !== "delegate") return account;
  const { credential } = certificate;
  if (credential.kind !== account.credential.kind || credential.hash !== account.credential.hash) return account;
  if (account.registered === (kind === "register")) return undefined;
  if (kind === "unregister") {
    const { deposit: _, pool: _pool, drep: _drep, ...rest } = account;
    return { ...rest, registered: false, rewards: 0n };
  }
  const deposit = kind === "register" && certificate.deposit !== undefined ? { deposit: certificate.deposit } : {};
  return { ...account, ...deposit, registered: true, ...certificate.to };
}
