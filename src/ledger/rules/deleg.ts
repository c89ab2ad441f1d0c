/** Rule DELEG: stake credentials are registered, delegate, and are given up. */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { Delegation, DRep as VoteDelegatee } from "#src/cardano/certificates.ts";
import type { CertificateOf } from "#src/cardano/conway/certificate.ts";
import type { Registry } from "#src/ledger/registry.ts";
import { type Account, credentialKey, type DRep, drepKey, type View } from "#src/ledger/state.ts";

/** What a wrong deposit or refund is called: until protocol version 10 both by one name. */
function deposits<Name extends "DepositIncorrectDELEG" | "RefundIncorrectDELEG">(
  { protocolVersion }: Parameters,
  name: Name,
): Name | "IncorrectDepositDELEG" {
  return protocolVersion.major < 11 ? "IncorrectDepositDELEG" : name;
}

/** A new account, which may delegate at once. */
export function register(
  { credential, deposit, to }: CertificateOf<"register">,
  registry: Registry,
  parameters: Parameters,
): LedgerFailure[] {
  const { accounts } = registry;
  const key = credentialKey(credential);
  const failures: LedgerFailure[] = [];
  const expected = parameters.keyDeposit;
  if (deposit !== undefined && deposit !== expected) {
    failures.push({ name: deposits(parameters, "DepositIncorrectDELEG"), supplied: deposit, expected });
  }
  if (accounts.get(key)) failures.push({ name: "StakeKeyRegisteredDELEG", credential });
  if (to) failures.push(...checkDelegatee(to, registry, parameters));
  keepDelegators(key, undefined, to?.drep, registry, parameters);
  accounts.set(key, { deposit: expected, balance: 0n, ...chosen(to) });
  return failures;
}

/** An account is closed; its rewards must be withdrawn. */
export function unregister(
  { credential, refund }: CertificateOf<"unregister">,
  registry: Registry,
  parameters: Parameters,
): LedgerFailure[] {
  const { accounts } = registry;
  const key = credentialKey(credential);
  const account = accounts.get(key);
  if (!account) return [{ name: "StakeKeyNotRegisteredDELEG", credential }];
  const failures: LedgerFailure[] = [];
  if (refund !== undefined && refund !== account.deposit) {
    failures.push({ name: deposits(parameters, "RefundIncorrectDELEG"), supplied: refund, expected: account.deposit });
  }
  if (account.balance !== 0n) {
    failures.push({ name: "StakeKeyHasNonZeroAccountBalanceDELEG", balance: account.balance });
  }
  keepDelegators(key, account, undefined, registry, parameters);
  accounts.delete(key);
  return failures;
}

/** An account delegates its stake, its vote, or both. */
export function delegate(
  { credential, to }: CertificateOf<"delegate">,
  registry: Registry,
  parameters: Parameters,
): LedgerFailure[] {
  const { accounts } = registry;
  const key = credentialKey(credential);
  const account = accounts.get(key);
  const failures = checkDelegatee(to, registry, parameters);
  if (!account) return [{ name: "StakeKeyNotRegisteredDELEG", credential }, ...failures];
  if (to.drep) keepDelegators(key, account, to.drep, registry, parameters);
  accounts.set(key, { ...account, ...chosen(to) });
  return failures;
}

/** The accounts whose delegation ends with a representative's registration. */
export function delegatorsOf(key: string, { delegators }: DRep, accounts: View<Account>): readonly string[] {
  return delegators ?? [...accounts.entries()].flatMap(([account, { drep }]) => drep === key ? [account] : []);
}

/**
 * Before an account delegates its vote or is given up, in protocol version 9: a representative keeps an account that goes to
 * another one, so that its end takes that account's new delegation too (ledger: `preserveIncorrectDelegation`). It forgets an
 * account that is given up, or that goes to a predefined representative.
 */
function keepDelegators(
  account: string,
  before: Account | undefined,
  to: VoteDelegatee | undefined,
  { accounts, dreps }: Registry,
  { protocolVersion: { major } }: Parameters,
): void {
  if (major > 9) return;
  const change = (key: string, isKept: boolean) => {
    const drep = dreps.get(key);
    if (!drep) return;
    const others = delegatorsOf(key, drep, accounts).filter((one) => one !== account);
    dreps.set(key, { ...drep, delegators: isKept ? [...others, account] : others });
  };
  const next = to && "hash" in to ? drepKey(to) : undefined;
  if (before?.drep !== undefined && dreps.get(before.drep)) {
    const wasKept = delegatorsOf(before.drep, dreps.get(before.drep)!, accounts).includes(account);
    change(before.drep, next !== undefined && wasKept);
  }
  if (next !== undefined) change(next, true);
}

/** What an account keeps of a delegation. */
function chosen({ pool, drep }: Delegation = {}): Pick<Account, "pool" | "drep"> {
  return { ...(pool === undefined ? {} : { pool }), ...(drep ? { drep: drepKey(drep) } : {}) };
}

/** Pool and representative must be registered; in the bootstrap phase (protocol version 9) representatives are not checked. */
function checkDelegatee(
  { pool, drep }: Delegation,
  { pools, dreps }: Registry,
  { protocolVersion }: Parameters,
): LedgerFailure[] {
  const failures: LedgerFailure[] = [];
  if (pool !== undefined && !pools.get(pool)) failures.push({ name: "DelegateeStakePoolNotRegisteredDELEG", pool });
  if (drep && "hash" in drep && protocolVersion.major > 9 && !dreps.get(drepKey(drep))) {
    failures.push({ name: "DelegateeDRepNotRegisteredDELEG", credential: drep });
  }
  return failures;
}
