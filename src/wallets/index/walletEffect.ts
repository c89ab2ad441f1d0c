/** Effect of a transaction on a wallet. */
import {
  certified,
  created,
  paidFee,
  proposed,
  type ScannedTransaction,
  spent,
  withdrawn,
} from "#src/cardano/block.ts";
import type { Certificate } from "#src/cardano/certificates.ts";
import { type Output, refKey } from "#src/cardano/output.ts";
import type { Value } from "#src/cardano/value.ts";
import { ownedCredential } from "#src/wallets/index/credential.ts";
import type { OwnedCredential } from "#src/wallets/index/types.ts";

/** The wallet's inputs, outputs and stake credential in a transaction. */
export interface OwnSide {
  /** Outputs that it spends, by `refKey`. */
  readonly inputs: ReadonlyMap<string, Output>;
  /** Outputs that it creates, by their index. */
  readonly outputs: ReadonlyMap<number, Output>;
  /** The wallet's stake credential. */
  readonly stake: OwnedCredential | undefined;
}

export interface WalletEffect {
  /** Lovelace that the wallet gains; negative where it loses. Its own withdrawals count as inputs. */
  readonly net: bigint;
  /**
   * Lovelace; undefined where it depends on foreign inputs (Byron; a failed script without a stated total collateral).
   */
  readonly fee: bigint | undefined;
  readonly depositTaken: bigint;
  readonly depositReturned: bigint;
  /** Lovelace that it withdraws from the wallet's own account. */
  readonly ownWithdrawal: bigint;
  /** The largest withdrawal of the transaction, of any account. */
  readonly withdrawal: bigint | undefined;
}

/** Stake credential of a reward account (bytes in hexadecimal). */
function stakeOf(account: string): OwnedCredential {
  return `${account.startsWith("f") ? "script" : "key"}-${account.slice(2)}`;
}

/** Stake credentials that the withdrawals and certificates of a transaction are about. */
export function stakesIn(transaction: ScannedTransaction): OwnedCredential[] {
  return [
    ...[...withdrawn(transaction).keys()].map(stakeOf),
    ...certified(transaction).flatMap((certificate) => subjectOf(certificate) ?? []),
  ];
}

/** The account of a certificate, where it has one. */
function subjectOf(certificate: Certificate): OwnedCredential | undefined {
  const { kind } = certificate;
  if (kind !== "register" && kind !== "unregister" && kind !== "delegate") return undefined;
  return ownedCredential(certificate.credential);
}

/**
 * The effect by cardano-wallet's rules: a wallet spends its inputs and withdrawals, and receives its outputs. Deposits
 * count for certificates of its own account, and where it has an input for all certificates and proposals. `keyDeposit`
 * applies to certificates that state no deposit.
 */
export function walletEffect(transaction: ScannedTransaction, own: OwnSide, keyDeposit: bigint): WalletEffect {
  const withdrawals = withdrawn(transaction);
  let net = 0n;
  for (const { value } of own.outputs.values()) net += value.lovelace;
  for (const { value } of own.inputs.values()) net -= value.lovelace;
  let ownWithdrawal = 0n;
  let withdrawal: bigint | undefined;
  for (const [account, amount] of withdrawals) {
    if (stakeOf(account) === own.stake) ownWithdrawal += amount;
    if (withdrawal === undefined || amount > withdrawal) withdrawal = amount;
  }
  net -= ownWithdrawal;
  const pays = own.inputs.size > 0;
  let depositTaken = pays ? sumOf(proposed(transaction)) : 0n;
  let depositReturned = 0n;
  let registersPool = false;
  for (const certificate of certified(transaction)) {
    if (!pays && subjectOf(certificate) !== own.stake) continue;
    if (certificate.kind === "register") depositTaken += certificate.deposit ?? keyDeposit;
    else if (certificate.kind === "unregister") depositReturned += certificate.refund ?? keyDeposit;
    else if (certificate.kind === "register drep") depositTaken += certificate.deposit;
    else if (certificate.kind === "unregister drep") depositReturned += certificate.refund;
    else if (certificate.kind === "register pool") registersPool = true;
  }
  const values = spent(transaction).flatMap((ref) => own.inputs.get(refKey(ref))?.value ?? []);
  const fee = paidFee(transaction, values);
  if (registersPool && fee !== undefined && values.length === spent(transaction).length) {
    depositTaken += unexplained(transaction, values, fee + depositTaken - depositReturned);
  }
  return { net, fee, depositTaken, depositReturned, ownWithdrawal, withdrawal };
}

/**
 * Lovelace that goes in and neither comes out nor is `spends`: the deposits of pools. A certificate does not say whether
 * its pool is registered already and pays none, but the ledger has both sides equal. So they are known only where the
 * wallet owns all inputs.
 */
function unexplained(transaction: ScannedTransaction, inputs: readonly Value[], spends: bigint): bigint {
  const put = sumOf(inputs.map(({ lovelace }) => lovelace)) + sumOf([...withdrawn(transaction).values()]);
  const got = sumOf(created(transaction).map(({ output }) => output.value.lovelace)) + (transaction.donation ?? 0n);
  const rest = put - got - spends;
  return rest > 0n ? rest : 0n;
}

const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n);

/** Addresses by which a wallet's history is filtered: those of all outputs and of the wallet's inputs. */
export function addressesIn(transaction: ScannedTransaction, own: OwnSide): string[] {
  return [
    ...new Set([
      ...created(transaction).map(({ output }) => output.address),
      ...[...own.inputs.values()].map(({ address }) => address),
    ]),
  ];
}
