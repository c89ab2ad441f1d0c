/**
 * A person without a wallet in a scenario, who makes transactions with Emurgo's library alone: from a devnet's outputs,
 * with any body.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { http, User } from "./user.ts";

export interface StrangerBody {
  /** Lovelace by address in bech32; the remainder comes back. */
  readonly pay?: readonly (readonly [address: string, lovelace: bigint])[];
  readonly certificates?: readonly csl.Certificate[];
  /** Deposits of the certificates, in lovelace. */
  readonly deposit?: bigint;
  readonly scripts?: readonly csl.NativeScript[];
  /** Additional signers. */
  readonly signers?: readonly csl.PrivateKey[];
}

const FEE = 400_000n;
const coin = (lovelace: bigint) => csl.Value.new(csl.BigNum.from_str(String(lovelace)));

export class Stranger extends User {
  constructor(private readonly devnet: string) {
    super();
  }

  /** A signed transaction that spends all outputs of the person, in hexadecimal. The fee is more than enough. */
  async transaction(
    { pay = [], certificates = [], deposit = 0n, scripts = [], signers = [] }: StrangerBody,
  ): Promise<string> {
    const { body: { utxos } } = await http(this.devnet, "GET", `/utxos/${this.address}`);
    const inputs = csl.TransactionInputs.new();
    let left = -FEE - deposit;
    for (const { txHash, index, lovelace } of utxos) {
      inputs.add(csl.TransactionInput.new(csl.TransactionHash.from_hex(txHash), index));
      left += BigInt(lovelace);
    }
    const outputs = csl.TransactionOutputs.new();
    const add = (address: string, lovelace: bigint) =>
      outputs.add(csl.TransactionOutput.new(csl.Address.from_bech32(address), coin(lovelace)));
    for (const [address, lovelace] of pay) {
      add(address, lovelace);
      left -= lovelace;
    }
    add(this.address, left);
    const body = csl.TransactionBody.new_tx_body(inputs, outputs, csl.BigNum.from_str(String(FEE)));
    if (certificates.length > 0) {
      const all = csl.Certificates.new();
      for (const one of certificates) all.add(one);
      body.set_certs(all);
    }
    const witnesses = csl.TransactionWitnessSet.new();
    if (scripts.length > 0) {
      const natives = csl.NativeScripts.new();
      for (const one of scripts) natives.add(one);
      witnesses.set_native_scripts(natives);
    }
    const signed = csl.FixedTransaction.from_hex(this.sign(csl.Transaction.new(body, witnesses).to_hex()));
    for (const one of signers) signed.sign_and_add_vkey_signature(one);
    return signed.to_hex();
  }
}
