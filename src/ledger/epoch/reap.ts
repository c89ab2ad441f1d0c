/** Pools at an epoch's boundary: what was announced for it comes true (rules EPOCH and POOLREAP). */
import { each, type Steps } from "#src/base/steps.ts";
import type { Registry } from "#src/ledger/registry.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import { type Account, credentialKey, eachRow, type Pool } from "#src/ledger/state.ts";

/** Deposits of retired pools, in lovelace: paid back to accounts, or fallen to the treasury since the account is gone. */
interface Reaped {
  readonly refunded: bigint;
  readonly unclaimed: bigint;
}

/** Certificates announced in the last epoch hold from now on. */
export function* adoptPools({ pools }: Registry): Steps<void> {
  const changed: [string, Pool][] = [];
  yield* eachRow(pools, ([id, { future, ...pool }]) => {
    if (future) changed.push([id, { ...pool, certificate: future }]);
  });
  for (const [id, pool] of changed) pools.set(id, pool);
}

/** Retires the pools of an epoch: deposits go to their reward accounts, and delegations to them end. */
export function* reapPools({ pools, accounts }: Registry, epoch: number): Steps<Reaped> {
  const retired = new Map<string, Pool>();
  let refunded = 0n;
  let unclaimed = 0n;
  yield* eachRow(pools, ([id, pool]) => {
    if (pool.retiring === epoch) retired.set(id, pool);
  });
  for (const [id, { certificate, deposit }] of retired) {
    pools.delete(id);
    const key = credentialKey(poolTerms(certificate).account.credential);
    const account = accounts.get(key);
    if (account) {
      accounts.set(key, { ...account, balance: account.balance + deposit });
      refunded += deposit;
    } else unclaimed += deposit;
  }
  if (retired.size === 0) return { refunded, unclaimed };
  const released: [string, Account][] = [];
  yield* eachRow(accounts, ([key, account]) => {
    if (account.pool !== undefined && retired.has(account.pool)) released.push([key, account]);
  });
  yield* each(released, ([key, { pool: _, ...account }]) => accounts.set(key, account));
  return { refunded, unclaimed };
}
