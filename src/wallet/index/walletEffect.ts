/** What a transaction does to a wallet, by what it spends and creates of the wallet's own. */
import { certified, created, paidFee, type ScannedTransaction, spent, withdrawn } from "#src/cardano/block.ts";
import type { Certificate } from "#src/cardano/certificates.ts";
import { type Output, refKey } from "#src/cardano/output.ts";
import type { OwnedCredential } from "#src/wallet/index/types.ts";

/** What of a transaction is a wallet's. */
export interface OwnSide {
  /** Outputs that it spends, by `refKey`. */
  readonly inputs: ReadonlyMap<string, Output>;
  /** Outputs that it creates, by their index. */
  readonly outputs: ReadonlyMap<number, Output>;
  /** The wallet's stake credential. */
  readonly stake: OwnedCredential | undefined;
}

export interface Weight {
  /** Lovelace that the wallet has more by it; less where negative. Its own withdrawals were its own before. */
  readonly net: bigint;
  /** Lovelace; undefined where it follows from inputs that are not the wallet's (Byron, a failed script without a stated total). */
  readonly fee: bigint | undefined;
  readonly depositTaken: bigint;
  readonly depositReturned: bigint;
  /** The greatest withdrawal of the transaction, whoever's. */
  readonly withdrawal: bigint | undefined;
}

/** Stake credential of a reward account (bytes in hexadecimal). */
export function stakeOf(account: string): OwnedCredential {
  return `${account.startsWith("f") ? "script" : "key"}-${account.slice(2)}`;
}

/** Stake credentials that the withdrawals and certificates of a transaction are about. */
export function stakesIn(transaction: ScannedTransaction): OwnedCredential[] {
  return [
    ...[...withdrawn(transaction).keys()].map(stakeOf),
    ...certified(transaction).flatMap((certificate) => subjectOf(certificate) ?? []),
  ];
}

/** Whose account a certificate is about, where it is about one. */
function subjectOf(certificate: Certificate): OwnedCredential | undefined {
  switch (certificate.kind) {
    case "register":
    case "unregister":
    case "delegate":
      return `${certificate.credential.kind}-${certificate.credential.hash}`;
    default:
      return undefined;
  }
}

/**
 * Weighs a transaction as the reference does: what the wallet spends is its inputs and its withdrawals, what it receives is its outputs. A
 * deposit is taken or returned by the certificates of its own account, and by all others where it pays with inputs of its own.
 * `keyDeposit` is that of the protocol, for certificates of Shelley, which state none.
 */
export function weigh(transaction: ScannedTransaction, own: OwnSide, keyDeposit: bigint): Weight {
  const withdrawals = withdrawn(transaction);
  let net = 0n;
  for (const { value } of own.outputs.values()) net += value.lovelace;
  for (const { value } of own.inputs.values()) net -= value.lovelace;
  let withdrawal: bigint | undefined;
  for (const [account, amount] of withdrawals) {
    if (stakeOf(account) === own.stake) net -= amount;
    if (withdrawal === undefined || amount > withdrawal) withdrawal = amount;
  }
  let depositTaken = 0n;
  let depositReturned = 0n;
  for (const certificate of certified(transaction)) {
    if (own.inputs.size === 0 && subjectOf(certificate) !== own.stake) continue;
    if (certificate.kind === "register") depositTaken += certificate.deposit ?? keyDeposit;
    else if (certificate.kind === "unregister") depositReturned += certificate.refund ?? keyDeposit;
    else if (certificate.kind === "register drep") depositTaken += certificate.deposit;
    else if (certificate.kind === "unregister drep") depositReturned += certificate.refund;
  }
  const values = spent(transaction).flatMap((ref) => own.inputs.get(refKey(ref))?.value ?? []);
  return { net, fee: paidFee(transaction, values), depositTaken, depositReturned, withdrawal };
}

/** Addresses that a transaction touches as a wallet's filter means it: those of its outputs and of the wallet's inputs. */
export function addressesIn(transaction: ScannedTransaction, own: OwnSide): string[] {
  return [
    ...new Set([
      ...created(transaction).map(({ output }) => output.address),
      ...[...own.inputs.values()].map(({ address }) => address),
    ]),
  ];
}
