/** Rule DELEG: stake credentials are registered, delegate, and are given up. */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { Delegation } from "#src/cardano/certificates.ts";
import type { CertificateOf } from "#src/cardano/conway/certificate.ts";
import type { Registry } from "#src/ledger/registry.ts";
import { type Account, credentialKey, drepKey } from "#src/ledger/state.ts";

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
  accounts.set(key, { deposit: expected, balance: 0n, ...chosen(to) });
  return failures;
}

/** An account is closed; its rewards must be withdrawn. */
export function unregister(
  { credential, refund }: CertificateOf<"unregister">,
  { accounts }: Registry,
  parameters: Parameters,
): LedgerFailure[] {
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
  accounts.set(key, { ...account, ...chosen(to) });
  return failures;
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
