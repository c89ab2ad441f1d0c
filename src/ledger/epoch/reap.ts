/** Pools at an epoch's boundary: what was announced for it comes true (rules EPOCH and POOLREAP). */
import type { Registry } from "#src/ledger/registry.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import { credentialKey } from "#src/ledger/state.ts";

/** Deposits of retired pools, in lovelace: paid back to accounts, or fallen to the treasury since the account is gone. */
interface Reaped {
  readonly refunded: bigint;
  readonly unclaimed: bigint;
}

/** Certificates announced in the last epoch hold from now on. */
export function adoptPools({ pools }: Registry): void {
  for (const [id, { future, ...pool }] of [...pools.entries()]) {
    if (future) pools.set(id, { ...pool, certificate: future });
  }
}

/** Retires the pools of an epoch: deposits go to their reward accounts, and delegations to them end. */
export function reapPools({ pools, accounts }: Registry, epoch: number): Reaped {
  const retired = new Set<string>();
  let refunded = 0n;
  let unclaimed = 0n;
  for (const [id, { certificate, deposit, retiring }] of [...pools.entries()]) {
    if (retiring !== epoch) continue;
    retired.add(id);
    pools.delete(id);
    const key = credentialKey(poolTerms(certificate).account.credential);
    const account = accounts.get(key);
    if (account) {
      accounts.set(key, { ...account, balance: account.balance + deposit });
      refunded += deposit;
    } else unclaimed += deposit;
  }
  if (retired.size === 0) return { refunded, unclaimed };
  for (const [key, { pool, ...account }] of [...accounts.entries()]) {
    if (pool !== undefined && retired.has(pool)) accounts.set(key, account);
  }
  return { refunded, unclaimed };
}
