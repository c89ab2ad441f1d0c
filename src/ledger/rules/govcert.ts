/** Rule GOVCERT: representatives, and members of the constitutional committee. */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { CertificateOf } from "#src/cardano/conway/certificate.ts";
import type { Body } from "#src/cardano/conway/body.ts";
import { GOVERNANCE, governanceOf } from "#src/ledger/governance/actions.ts";
import { protocolParameters } from "#src/ledger/governance/parameters.ts";
import { isBootstrap } from "#src/ledger/governance/thresholds.ts";
import type { Registry } from "#src/ledger/registry.ts";
import { delegatorsOf } from "#src/ledger/rules/deleg.ts";
import { credentialKey, type LedgerState } from "#src/ledger/state.ts";

/** What certificates of governance are judged by, besides the tables. */
type Terms = Pick<LedgerState, "parameters" | "epoch">;

/**
 * The last epoch in which a representative counts that is active now, but for dormant epochs, which are added when the next
 * action is proposed (ledger: `computeDRepExpiry`).
 */
function expiryOf(registry: Registry, { parameters, epoch }: Terms): number {
  return epoch + protocolParameters(parameters).drepActivity - governanceOf(registry).dormant;
}

/**
 * Before the certificates of a transaction: its proposals end the dormant epochs, by which representatives count longer, and
 * those that vote in it are active (ledger: `updateDormantDRepExpiries`, `updateVotingDRepExpiries`).
 */
export function keepActive({ proposals, voters }: Body, registry: Registry, terms: Terms): void {
  const governance = governanceOf(registry);
  const { dreps } = registry;
  if (proposals.length > 0 && governance.dormant > 0) {
    for (const [key, drep] of [...dreps.entries()]) {
      const expiry = drep.expiry === undefined ? undefined : drep.expiry + governance.dormant;
      if (expiry !== undefined && expiry >= terms.epoch) dreps.set(key, { ...drep, expiry });
    }
    registry.governance.set(GOVERNANCE, { ...governance, dormant: 0 });
  }
  const expiry = expiryOf(registry, terms);
  for (const { role, credential } of voters) {
    const key = credentialKey(credential);
    const drep = role === "drep" ? dreps.get(key) : undefined;
    if (drep) dreps.set(key, { ...drep, expiry });
  }
}

/** A new representative. Dormant epochs do not count for it during the bootstrap. */
export function registerDRep(
  { credential, deposit, anchor }: CertificateOf<"register drep">,
  registry: Registry,
  terms: Terms,
): LedgerFailure[] {
  const { dreps } = registry;
  const { parameters, epoch } = terms;
  const expected = parameters.drepDeposit;
  const key = credentialKey(credential);
  const failures: LedgerFailure[] = [];
  if (dreps.get(key)) failures.push({ name: "ConwayDRepAlreadyRegistered", credential });
  if (deposit !== expected) failures.push({ name: "ConwayDRepIncorrectDeposit", supplied: deposit, expected });
  const expiry = isBootstrap(parameters)
    ? epoch + protocolParameters(parameters).drepActivity
    : expiryOf(registry, terms);
  // version 9 does not count delegations from before the registration
  const delegators = isBootstrap(parameters) ? { delegators: [] } : {};
  dreps.set(key, { deposit, expiry, ...(anchor ? { anchor } : {}), ...delegators });
  return failures;
}

/** A representative unregisters; delegations to it end. */
export function unregisterDRep(
  { credential, refund }: CertificateOf<"unregister drep">,
  { accounts, dreps }: Registry,
): LedgerFailure[] {
  const key = credentialKey(credential);
  const drep = dreps.get(key);
  if (!drep) return [{ name: "ConwayDRepNotRegistered", credential }];
  const delegators = delegatorsOf(key, drep, accounts);
  dreps.delete(key);
  for (const account of delegators) {
    const { drep: _, ...rest } = accounts.get(account) ?? {};
    if ("deposit" in rest) accounts.set(account, rest);
  }
  const expected = drep.deposit;
  return refund === expected ? [] : [{ name: "ConwayDRepIncorrectRefund", supplied: refund, expected }];
}

/** A representative shows that it is active, and may change or remove its metadata. */
export function updateDRep(
  { credential, anchor }: CertificateOf<"update drep">,
  registry: Registry,
  terms: Terms,
): LedgerFailure[] {
  const { dreps } = registry;
  const key = credentialKey(credential);
  const drep = dreps.get(key);
  if (!drep) return [{ name: "ConwayDRepNotRegistered", credential }];
  const { anchor: _, ...kept } = drep;
  dreps.set(key, { ...kept, expiry: expiryOf(registry, terms), ...(anchor ? { anchor } : {}) });
  return [];
}

/** A committee member authorizes a hot key, or resigns for good. */
export function answerForSeat(
  certificate: CertificateOf<"authorize"> | CertificateOf<"resign">,
  { committee }: Registry,
): LedgerFailure[] {
  const { cold } = certificate;
  const key = credentialKey(cold);
  const member = committee.get(key);
  const { hot: _, resigned: __, ...elected } = member ?? {};
  committee.set(
    key,
    certificate.kind === "resign"
      ? { ...elected, resigned: true, ...(certificate.anchor ? { resignation: certificate.anchor } : {}) }
      : { ...elected, hot: credentialKey(certificate.hot) },
  );
  if (!member) return [{ name: "ConwayCommitteeIsUnknown", credential: cold }];
  return member.resigned ? [{ name: "ConwayCommitteeHasPreviouslyResigned", credential: cold }] : [];
}
