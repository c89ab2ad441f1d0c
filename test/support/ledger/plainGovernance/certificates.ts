/** What certificates change in the plain model, and why they are refused (rules DELEG, POOL and GOVCERT). */
import { type Certificate, type PlainState, whole } from "./types.ts";

/** Names a failure, where it is one. */
export type Fail = (name: string, isTrue: boolean) => void;

/** Protocol version 9, in which few actions are allowed and representatives do not decide. */
export const isBootstrap = ({ version }: Pick<PlainState, "version">): boolean => version[0] === 9;

/** The last epoch in which a representative counts that is active now; dormant epochs are added with the next proposal. */
export function activeUntil(state: PlainState): number {
  return state.epoch + Number(whole(state, "drepActivity")) - state.dormant;
}

/** Carries out a certificate; `future` are the cold credentials that some action would elect. */
export function certify(state: PlainState, certificate: Certificate, future: ReadonlySet<string>, fail: Fail): void {
  switch (certificate.kind) {
    case "register":
    case "unregister":
    case "delegate":
      return certifyAccount(state, certificate, fail);
    case "register pool":
    case "retire pool":
      return certifyPool(state, certificate, fail);
    case "register drep":
    case "unregister drep":
    case "update drep":
      return certifyDRep(state, certificate, fail);
    case "authorize":
    case "resign": {
      const { cold } = certificate;
      fail("ConwayCommitteeHasPreviouslyResigned", state.hot.get(cold) === "resigned");
      fail("ConwayCommitteeIsUnknown", !state.committee?.members.has(cold) && !future.has(cold));
      state.hot.set(cold, certificate.kind === "resign" ? "resigned" : certificate.hot);
    }
  }
}

function certifyAccount(
  state: PlainState,
  certificate: Extract<Certificate, { kind: "register" | "unregister" | "delegate" }>,
  fail: Fail,
): void {
  const { credential } = certificate;
  const account = state.accounts.get(credential);
  const keyDeposit = whole(state, "keyDeposit");
  const isEarly = state.version[0] < 11;
  switch (certificate.kind) {
    case "register":
      fail(isEarly ? "IncorrectDepositDELEG" : "DepositIncorrectDELEG", certificate.deposit !== keyDeposit);
      fail("StakeKeyRegisteredDELEG", account !== undefined);
      state.accounts.set(credential, { deposit: keyDeposit, balance: 0n });
      state.deposits += keyDeposit;
      break;
    case "unregister":
      if (!account) return fail("StakeKeyNotRegisteredDELEG", true);
      fail(isEarly ? "IncorrectDepositDELEG" : "RefundIncorrectDELEG", certificate.refund !== account.deposit);
      fail("StakeKeyHasNonZeroAccountBalanceDELEG", account.balance > 0n);
      state.dreps.get(account.drep ?? "")?.delegators.delete(credential);
      state.accounts.delete(credential);
      state.deposits -= account.deposit;
      break;
    case "delegate": {
      const { pool, drep } = certificate;
      fail("StakeKeyNotRegisteredDELEG", !account);
      fail("DelegateeStakePoolNotRegisteredDELEG", pool !== undefined && !state.pools.has(pool));
      const isUnknown = drep !== undefined && !isPredefined(drep) && !state.dreps.has(drep);
      fail("DelegateeDRepNotRegisteredDELEG", state.version[0] > 9 && isUnknown);
      if (account && pool !== undefined) account.pool = pool;
      if (!account || drep === undefined) return;
      // version 9 took an account from the representative that it left only where it went to a predefined one
      if (state.version[0] > 9 || isPredefined(drep)) {
        state.dreps.get(account.drep ?? "")?.delegators.delete(credential);
      }
      state.dreps.get(drep)?.delegators.add(credential);
      account.drep = drep;
    }
  }
}

/** Whether votes are delegated to no credential. */
export const isPredefined = (drep: string): boolean => drep === "abstain" || drep === "no confidence";

function certifyPool(
  state: PlainState,
  certificate: Extract<Certificate, { kind: "register pool" | "retire pool" }>,
  fail: Fail,
): void {
  const { pool: id } = certificate;
  const pool = state.pools.get(id);
  if (certificate.kind === "register pool") {
    const { account } = certificate;
    if (pool) {
      state.pools.set(id, { deposit: pool.deposit, account: pool.account, nextAccount: account });
      return;
    }
    const deposit = whole(state, "poolDeposit");
    state.pools.set(id, { deposit, account });
    state.deposits += deposit;
    return;
  }
  const { epoch } = certificate;
  const last = state.epoch + Number(whole(state, "retirementBound"));
  fail("StakePoolNotRegisteredOnKeyPOOL", !pool);
  fail("StakePoolRetirementWrongEpochPOOL", epoch <= state.epoch || epoch > last);
  if (pool) state.pools.set(id, { ...pool, retiring: epoch });
}

function certifyDRep(
  state: PlainState,
  certificate: Extract<Certificate, { kind: "register drep" | "unregister drep" | "update drep" }>,
  fail: Fail,
): void {
  const { credential } = certificate;
  const drep = state.dreps.get(credential);
  const deposit = whole(state, "drepDeposit");
  switch (certificate.kind) {
    case "register drep": {
      fail("ConwayDRepAlreadyRegistered", drep !== undefined);
      fail("ConwayDRepIncorrectDeposit", certificate.deposit !== deposit);
      // dormant epochs were forgotten here until protocol version 10
      const expiry = activeUntil(state) + (isBootstrap(state) ? state.dormant : 0);
      state.dreps.set(credential, { deposit, expiry, url: certificate.url, delegators: new Set() });
      state.deposits += deposit;
      break;
    }
    case "unregister drep":
      if (!drep) return fail("ConwayDRepNotRegistered", true);
      fail("ConwayDRepIncorrectRefund", certificate.refund !== drep.deposit);
      state.dreps.delete(credential);
      for (const one of drep.delegators) if (state.accounts.has(one)) state.accounts.get(one)!.drep = undefined;
      state.deposits -= drep.deposit;
      break;
    case "update drep":
      if (!drep) return fail("ConwayDRepNotRegistered", true);
      drep.expiry = activeUntil(state);
      drep.url = certificate.url;
  }
}
