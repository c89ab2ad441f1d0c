/** Transactions of the faucet: plain payments signed by one key, the change back to where the inputs came from. */
import { fromHex } from "#src/base/bytes.ts";
import { ok, type Result } from "#src/base/result.ts";
import { balance, type BalanceFailure } from "#src/transaction/balance.ts";
import { leastLovelace } from "#src/transaction/output.ts";
import type { Coin } from "#src/transaction/coinPool.ts";
import { publicKey, sign, type SigningKey } from "#src/cardano/keys.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { addWitness, type NewOutput } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";

/** An output to be made; `script` is the CBOR of a reference script, as in `Output.script`. */
export interface Target {
  /** Bytes of the address in hexadecimal. */
  readonly address: string;
  readonly lovelace: bigint;
  readonly script?: Uint8Array;
}

/** What pays: outputs of one key, where the change goes, and the parameters that the fee follows. */
export interface Payer {
  readonly key: SigningKey;
  /** Bytes of the address in hexadecimal. */
  readonly address: string;
  readonly available: readonly Coin[];
  readonly parameters: Parameters;
}

function outputOf({ address, lovelace: amount, script }: Target): NewOutput {
  return { address, value: lovelace(amount), script };
}

/** The least lovelace that an output can hold. */
export function leastOf(parameters: Parameters, target: Omit<Target, "lovelace">): bigint {
  return leastLovelace(parameters, outputOf({ ...target, lovelace: 0n }));
}

/** The CBOR of a signed payment. */
export function payment(payer: Payer, targets: readonly Target[]): Result<Uint8Array, BalanceFailure> {
  const balanced = balance(
    { inputs: [], outputs: targets.map(outputOf), redeemers: [], references: [], scripts: [], requiredSigners: [] },
    payer,
    payer.parameters,
    () => ({ ok: false, kind: "refused", message: "no script was expected", logs: [] }),
  );
  if (!balanced.ok) return balanced;
  const { transaction, hash } = balanced.value;
  return ok(addWitness(transaction, { key: publicKey(payer.key), signature: sign(payer.key, fromHex(hash)) }));
}
