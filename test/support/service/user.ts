/**
 * A user of the HTTP services who signs with a library that the services do not use (Emurgo's serialization library).
 */
import CSL from "@emurgo/cardano-serialization-lib-nodejs";
import { randomBytes } from "node:crypto";
import { until } from "../base/until.ts";

/** A response over HTTP: status and JSON. */
export interface Answer {
  readonly status: number;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

/** Sends an HTTP request. */
export async function http(base: string, method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(base + path, {
    method,
    ...(body === undefined ? {} : {
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: { "content-type": "application/json" },
    }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

export class User {
  readonly key = CSL.PrivateKey.from_normal_bytes(randomBytes(32));
  private readonly stake = CSL.PrivateKey.from_normal_bytes(randomBytes(32));
  readonly address: string;
  /** Hash of the payment key. */
  readonly keyHash: string;

  constructor(kind: "base" | "enterprise" = "enterprise") {
    const hash = (key: CSL.PrivateKey) => CSL.Credential.from_keyhash(key.to_public().hash());
    this.keyHash = this.key.to_public().hash().to_hex();
    this.address = kind === "base"
      ? CSL.BaseAddress.new(0, hash(this.key), hash(this.stake)).to_address().to_bech32()
      : CSL.EnterpriseAddress.new(0, hash(this.key)).to_address().to_bech32();
  }

  /** The transaction with this user's signature in addition to the others. */
  sign(unsigned: string): string {
    const transaction = CSL.FixedTransaction.from_hex(unsigned);
    transaction.sign_and_add_vkey_signature(this.key);
    return transaction.to_hex();
  }
}

/** A transaction of one input, without signatures, in hexadecimal. */
export function unsignedPayment(
  input: { readonly txHash: string; readonly index: number },
  outputs: readonly { readonly address: string; readonly lovelace: bigint }[],
  fee: bigint,
): string {
  const inputs = CSL.TransactionInputs.new();
  inputs.add(CSL.TransactionInput.new(CSL.TransactionHash.from_hex(input.txHash), input.index));
  const made = CSL.TransactionOutputs.new();
  for (const { address, lovelace } of outputs) {
    const value = CSL.Value.new(CSL.BigNum.from_str(String(lovelace)));
    made.add(CSL.TransactionOutput.new(CSL.Address.from_bech32(address), value));
  }
  const body = CSL.TransactionBody.new_tx_body(inputs, made, CSL.BigNum.from_str(String(fee)));
  return CSL.Transaction.new(body, CSL.TransactionWitnessSet.new()).to_hex();
}

/** Submits and waits for the ledger. */
export async function land(tokens: string, signed: string): Promise<string> {
  const sent = await http(tokens, "POST", "/transaction", { signedTransaction: signed });
  if (sent.status !== 200) throw new Error(`refused: ${sent.status} ${JSON.stringify(sent.body)}`);
  const hash = sent.body.txHash as string;
  await until(
    `transaction ${hash}`,
    async () => (await http(tokens, "GET", `/transaction?txHash=${hash}`)).status === 200,
  );
  return hash;
}

/** Requests a faucet payment for a user and waits until the token service's index has it. */
export async function fund(
  devnet: string,
  tokens: string,
  user: Pick<User, "address">,
  lovelace = 1_000_000_000,
): Promise<void> {
  const paid = await http(devnet, "POST", "/faucet", { address: user.address, lovelace });
  if (paid.status !== 200) throw new Error(`faucet: ${paid.status} ${JSON.stringify(paid.body)}`);
  await until(
    "the faucet's payment",
    async () => (await http(tokens, "GET", `/transaction?txHash=${paid.body.txHash}`)).status === 200,
  );
}
