/**
 * A payer on a devnet who pays many outputs at once: transactions made and signed here go over the node's socket
 * directly to the mempool, block after block.
 */
import { createPrivateKey, sign } from "node:crypto";
import path from "node:path";
import { concat, fromHex, toHex } from "#src/base/bytes.ts";
import { addressText, enterpriseAddress, type PaymentAddress } from "#src/cardano/address.ts";
import { keyHash, newSeed, publicKey } from "#src/cardano/keys/signingKey.ts";
import { encodeNative, nativeHash } from "#src/cardano/nativeScript.ts";
import type { OutRef } from "#src/cardano/output.ts";
import {
  addWitness,
  encodeTransaction,
  type KeyWitness,
  type NewOutput,
  transactionHash,
} from "#src/cardano/transaction.ts";
import { type Assets, lovelace, noAssets } from "#src/cardano/value.ts";
import { call } from "#src/client/http.ts";
import { connectNode, type NodeConnection } from "#src/node/client/connection.ts";
import { until } from "../support/base/until.ts";

/** The faucet's maximum payment. */
const FUNDS = 1_000_000_000_000n;
/** Enough for every transaction that is made here. */
const FEE = 1_000_000n;
/** Outputs of a transaction that stays below 16,384 bytes. */
const OUTPUTS = 200;
/** Of a block's 90,112. */
const BLOCK_BYTES = 88_000;
const MAGIC = 42;

/** Another owner's output that is an input of a payment, and how its owner signs. */
export interface Contribution {
  readonly ref: OutRef;
  readonly amount: bigint;
  readonly sign: (hash: Uint8Array) => KeyWitness;
}

export class Bank {
  readonly #seed = newSeed();
  readonly #public = publicKey(this.#seed);
  readonly #address: PaymentAddress = enterpriseAddress(0, { kind: "key", hash: keyHash(this.#public) });
  // signs in a tenth of the time that JavaScript takes
  readonly #key = createPrivateKey({
    key: Buffer.from(concat(fromHex("302e020100300506032b657004220420"), this.#seed)),
    format: "der",
    type: "pkcs8",
  });
  #coin: { ref: OutRef; amount: bigint } = { ref: { txHash: "", index: 0 }, amount: 0n };
  #socket: NodeConnection | undefined;
  #waiting = 0;

  private constructor(private readonly devnet: string) {}

  /** A new payer, with a million ada. `folder` is that of the service. */
  static async open(devnet: string, folder: string): Promise<Bank> {
    const bank = new Bank(devnet);
    const connected = await connectNode({ path: path.join(folder, "devnet", "node.socket") }, { magic: MAGIC });
    if (!connected.ok) throw new Error(connected.error.message);
    bank.#socket = connected.value;
    const address = addressText(bank.#address);
    await call(devnet, "POST", "/faucet", { address, lovelace: FUNDS });
    const found = await until("the faucet's payment", async () => {
      await bank.block();
      const { utxos } = await call(devnet, "GET", `/utxos/${address}`) as {
        utxos: { txHash: string; index: number }[];
      };
      return utxos[0];
    });
    bank.#coin = { ref: { txHash: found.txHash, index: Number(found.index) }, amount: FUNDS };
    return bank;
  }

  /** Makes a block. */
  async block(): Promise<void> {
    this.#waiting = 0;
    await call(this.devnet, "POST", "/blocks", { count: 1 });
  }

  /** One transaction that pays these outputs; returns its hash. */
  async pay(outputs: readonly NewOutput[], with_: readonly Contribution[] = [], mint: Assets = noAssets) {
    const amount = this.#coin.amount + with_.reduce((sum, { amount }) => sum + amount, 0n) - FEE -
      outputs.reduce((sum, { value }) => sum + value.lovelace, 0n);
    if (amount < 10_000_000n) throw new Error("the payer has no funds left");
    const unsigned = encodeTransaction({
      inputs: [this.#coin.ref, ...with_.map(({ ref }) => ref)],
      outputs: [...outputs, { address: this.#address.hex, value: lovelace(amount) }],
      fee: FEE,
      ...(mint.size > 0 ? { mint, nativeScripts: [this.script] } : {}),
    });
    const hash = transactionHash(unsigned);
    const message = fromHex(hash);
    const transaction = addWitness(
      unsigned,
      { key: this.#public, signature: new Uint8Array(sign(null, message, this.#key)) },
      ...with_.map((one) => one.sign(message)),
    );
    await this.#submit(transaction);
    this.#coin = { ref: { txHash: hash, index: outputs.length }, amount };
    return hash;
  }

  /** As many transactions as needed, in the order of the outputs. */
  async payAll(outputs: readonly NewOutput[]): Promise<void> {
    for (let from = 0; from < outputs.length; from += OUTPUTS) await this.pay(outputs.slice(from, from + OUTPUTS));
    await this.block();
  }

  /** The script of its minting policy. */
  get script(): Uint8Array {
    return encodeNative({ kind: "key", hash: keyHash(this.#public) });
  }

  get policy(): string {
    return nativeHash(this.script);
  }

  /** Its receiving address. */
  get address(): string {
    return addressText(this.#address);
  }

  get hex(): string {
    return this.#address.hex;
  }

  /** Makes a block when one would be full. */
  async #submit(transaction: Uint8Array): Promise<void> {
    if (this.#waiting + transaction.length > BLOCK_BYTES) await this.block();
    const answer = await this.#socket!.submit(transaction);
    if (!answer.ok) throw new Error(answer.error.message);
    if (!answer.value.accepted) throw new Error(`refused: ${toHex(answer.value.reason)}`);
    this.#waiting += transaction.length;
  }
}
