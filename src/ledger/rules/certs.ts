/** Rule CERTS: withdrawals, then each certificate in its order, on tables that each of them changes for the next. */
import type { FailureOf, LedgerFailure } from "#src/cardano/failure.ts";
import type { Body, Withdrawal } from "#src/cardano/conway/body.ts";
import type { Certificate } from "#src/cardano/conway/certificate.ts";
import type { Registry } from "#src/ledger/registry.ts";
import { delegate, register, unregister } from "#src/ledger/rules/deleg.ts";
import { answerForSeat, keepActive, registerDRep, unregisterDRep, updateDRep } from "#src/ledger/rules/govcert.ts";
import { registerPool, retirePool } from "#src/ledger/rules/pool.ts";
import { credentialKey, type LedgerState } from "#src/ledger/state.ts";

type WrongWithdrawal = FailureOf<"WithdrawalsNotInRewardsCERTS">["withdrawals"][number];

/** What certificates are judged by, besides the tables. */
type CertificateTerms = Pick<LedgerState, "parameters" | "network" | "epoch">;

/** Applies withdrawals and certificates to the tables; gives their failures. */
export function applyCertificates(
  body: Body,
  registry: Registry,
  terms: CertificateTerms,
): LedgerFailure[] {
  const { certificates, withdrawals } = body;
  keepActive(body, registry, terms);
  return [
    ...withdraw(withdrawals, registry, terms),
    ...certificates.flatMap((certificate) => apply(certificate, registry, terms)),
  ];
}

/** Each withdrawal takes all that its account holds; from protocol version 11 on, rule LEDGER says so, before CERTS begins. */
function withdraw(
  withdrawals: readonly Withdrawal[],
  { accounts }: Registry,
  { network, parameters }: CertificateTerms,
): LedgerFailure[] {
  const wrong = withdrawals.flatMap(({ account, amount }): readonly WrongWithdrawal[] => {
    const balance = account.network === network ? accounts.get(credentialKey(account.credential))?.balance : undefined;
    if (balance === amount) return [];
    return [{ account: account.hex, supplied: amount, ...(balance === undefined ? {} : { expected: balance }) }];
  });
  for (const { account } of withdrawals) {
    const key = credentialKey(account.credential);
    const held = accounts.get(key);
    if (held && held.balance > 0n) accounts.set(key, { ...held, balance: 0n });
  }
  if (parameters.protocolVersion.major < 11) {
    return wrong.length === 0 ? [] : [{ name: "WithdrawalsNotInRewardsCERTS", withdrawals: wrong }];
  }
  const failures: LedgerFailure[] = [];
  const missing = wrong.filter(({ expected }) => expected === undefined);
  const incomplete = wrong.filter(({ expected }) => expected !== undefined);
  if (missing.length > 0) failures.push({ name: "ConwayWithdrawalsMissingAccounts", withdrawals: missing });
  if (incomplete.length > 0) failures.push({ name: "ConwayIncompleteWithdrawals", withdrawals: incomplete });
  return failures;
}

function apply(certificate: Certificate, registry: Registry, terms: CertificateTerms): LedgerFailure[] {
  const { parameters } = terms;
  switch (certificate.kind) {
    case "register":
      return register(certificate, registry, parameters);
    case "unregister":
      return unregister(certificate, registry, parameters);
    case "delegate":
      return delegate(certificate, registry, parameters);
    case "register pool":
      return registerPool(certificate, registry, terms);
    case "retire pool":
      return retirePool(certificate, registry, terms);
    case "register drep":
      return registerDRep(certificate, registry, terms);
    case "unregister drep":
      return unregisterDRep(certificate, registry);
    case "update drep":
      return updateDRep(certificate, registry, terms);
    case "authorize":
    case "resign":
      return answerForSeat(certificate, registry);
  }
}
