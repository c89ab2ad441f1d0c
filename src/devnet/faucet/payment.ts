/** Transactions of the faucet: plain payments signed by one key, with change to the faucet's address. */
import { fromHex } from "#src/base/bytes.ts";
import { ok, type Result } from "#src/base/result.ts";
import { balance, type BalancedTransaction, type BalanceFailure, type Skeleton } from "#src/transaction/balance.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import { leastLovelace } from "#src/transaction/output.ts";
import type { Coin } from "#src/transaction/coinPool.ts";
import { publicKey, sign, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { addWitness, type NewOutput } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";

/** What an output holds beside lovelace. */
export interface Attachment {
  /** CBOR of a reference script, as in `Output.script`. */
  readonly script?: Uint8Array;
  /** CBOR of an inline datum. */
  readonly datum?: Uint8Array;
}

/** An output to create. */
export interface PaymentOutput extends Attachment {
  /** Bytes of the address in hexadecimal. */
  readonly address: string;
  readonly lovelace: bigint;
}

/** The payer: the outputs of one address with a payment key, which gets the change, and the protocol parameters. */
interface Payer {
  /** Bytes of the address in hexadecimal. */
  readonly address: string;
  readonly available: readonly Coin[];
  readonly parameters: Parameters;
}

function newOutput({ address, lovelace: amount, script, datum }: PaymentOutput): NewOutput {
  return { address, value: lovelace(amount), script, datum };
}

/** The least lovelace that an output must hold. */
export function minLovelace(parameters: Parameters, target: Omit<PaymentOutput, "lovelace">): bigint {
  return leastLovelace(parameters, newOutput({ ...target, lovelace: 0n }));
}

/** A payment without signatures. */
export function balancePayment(
  payer: Payer,
  outputs: readonly NewOutput[],
): Result<BalancedTransaction, BalanceFailure> {
  return balanceFor(payer, { outputs });
}

const NOTHING: Skeleton = {
  inputs: [],
  outputs: [],
  redeemers: [],
  references: [],
  scripts: [],
  requiredSigners: [],
};
const noScript: Measure = () => ({ ok: false, kind: "refused", message: "no script was expected", logs: [] });

/** A transaction of these parts that the payer pays for, without signatures. `measure` runs its scripts. */
export function balanceFor(
  payer: Payer,
  parts: Partial<Skeleton>,
  measure: Measure = noScript,
): Result<BalancedTransaction, BalanceFailure> {
  return balance({ ...NOTHING, ...parts }, payer, payer.parameters, measure);
}

/** The CBOR of a transaction with the signatures of keys. */
export function signedBy({ transaction, hash }: BalancedTransaction, ...keys: readonly SigningKey[]): Uint8Array {
  const bytes = fromHex(hash);
  return addWitness(transaction, ...keys.map((key) => ({ key: publicKey(key), signature: sign(key, bytes) })));
}

/** The CBOR of a payment signed by the payer's key. */
export function buildPayment(
  payer: Payer & { readonly key: SigningKey },
  targets: readonly PaymentOutput[],
): Result<Uint8Array, BalanceFailure> {
  const balanced = balancePayment(payer, targets.map(newOutput));
  return balanced.ok ? ok(signedBy(balanced.value, payer.key)) : balanced;
}
