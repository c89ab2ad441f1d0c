/** Rule GOVCERT: representatives, and members of the constitutional committee. */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { CertificateOf } from "#src/cardano/conway/certificate.ts";
import type { Registry } from "#src/ledger/registry.ts";
import { credentialKey } from "#src/ledger/state.ts";

/** A new representative. */
export function registerDRep(
  { credential, deposit, anchor }: CertificateOf<"register drep">,
  { dreps }: Registry,
  { drepDeposit: expected }: Parameters,
): LedgerFailure[] {
  const key = credentialKey(credential);
  const failures: LedgerFailure[] = [];
  if (dreps.get(key)) failures.push({ name: "ConwayDRepAlreadyRegistered", credential });
  if (deposit !== expected) failures.push({ name: "ConwayDRepIncorrectDeposit", supplied: deposit, expected });
  dreps.set(key, { deposit, ...(anchor ? { anchor } : {}) });
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
  dreps.delete(key);
  for (const [account, { drep: _, ...rest }] of [...accounts.entries()].filter(([, { drep }]) => drep === key)) {
    accounts.set(account, rest);
  }
  const expected = drep.deposit;
  return refund === expected ? [] : [{ name: "ConwayDRepIncorrectRefund", supplied: refund, expected }];
}

/** A representative shows that it is active, and may change or remove its metadata. */
export function updateDRep({ credential, anchor }: CertificateOf<"update drep">, { dreps }: Registry): LedgerFailure[] {
  const key = credentialKey(credential);
  const drep = dreps.get(key);
  if (!drep) return [{ name: "ConwayDRepNotRegistered", credential }];
  dreps.set(key, { deposit: drep.deposit, ...(anchor ? { anchor } : {}) });
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
  const elected = member?.elected ? { elected: true } : {};
  committee.set(
    key,
    certificate.kind === "resign"
      ? { ...elected, resigned: true }
      : { ...elected, hot: credentialKey(certificate.hot) },
  );
  if (!member) return [{ name: "ConwayCommitteeIsUnknown", credential: cold }];
  return member.resigned ? [{ name: "ConwayCommitteeHasPreviouslyResigned", credential: cold }] : [];
}
