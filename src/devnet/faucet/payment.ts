/** Transactions of the faucet: plain payments signed by one key, with change to the faucet's address. */
import { fromHex } from "#src/base/bytes.ts";
import { ok, type Result } from "#src/base/result.ts";
import { balance, type BalancedTransaction, type BalanceFailure } from "#src/transaction/balance.ts";
import { leastLovelace } from "#src/transaction/output.ts";
import type { Coin } from "#src/transaction/coinPool.ts";
import { publicKey, sign, type SigningKey } from "#src/cardano/keys/signingKey.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { addWitness, type NewOutput } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";

/** An output to create; `script` is the CBOR of a reference script, as in `Output.script`. */
export interface PaymentOutput {
  /** Bytes of the address in hexadecimal. */
  readonly address: string;
  readonly lovelace: bigint;
  readonly script?: Uint8Array;
}

/** The payer: the outputs of one address with a payment key, which gets the change, and the protocol parameters. */
interface Payer {
  /** Bytes of the address in hexadecimal. */
  readonly address: string;
  readonly available: readonly Coin[];
  readonly parameters: Parameters;
}

function newOutput({ address, lovelace: amount, script }: PaymentOutput): NewOutput {
  return { address, value: lovelace(amount), script };
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
  return balance(
    { inputs: [], outputs, redeemers: [], references: [], scripts: [], requiredSigners: [] },
    payer,
    payer.parameters,
    () => ({ ok: false, kind: "refused", message: "no script was expected", logs: [] }),
  );
}

/** The CBOR of a payment signed by the payer's key. */
export function buildPayment(
  payer: Payer & { readonly key: SigningKey },
  targets: readonly PaymentOutput[],
): Result<Uint8Array, BalanceFailure> {
  const balanced = balancePayment(payer, targets.map(newOutput));
  if (!balanced.ok) return balanced;
  const { transaction, hash } = balanced.value;
  return ok(addWitness(transaction, { key: publicKey(payer.key), signature: sign(payer.key, fromHex(hash)) }));
}
