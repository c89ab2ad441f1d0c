/**
 * Pays the wallets of many scenarios at once: payments that are ordered together are outputs of one transaction, made
 * and signed with Emurgo's library alone.
 */
import * as csl from "@emurgo/cardano-serialization-lib-nodejs";
import { expect } from "vitest";
import { http, User } from "../../support/service/user.ts";

/** Most weight of one transaction, which keeps it below the ledger's size limit. */
const MOST_WEIGHT = 100;
/** An output's weight: 1, and for each asset, which the mint repeats. */
const ASSET_WEIGHT = 0.4;
/** Lovelace of a transaction's fee, more than enough. */
const FEE = 1_000_000n;
/** Lovelace of one request to the faucet. */
const DRAW = 1_000_000_000_000n;

/** An output to pay. */
export interface Payment {
  /** Bech32 or, of Byron, base58. */
  readonly address: string;
  readonly lovelace: bigint;
  /** Quantities by asset name in hexadecimal; they are minted under the bank's policy. */
  readonly assets?: Readonly<Record<string, bigint>>;
}

interface Coin {
  readonly id: string;
  readonly index: number;
  readonly lovelace: bigint;
}

interface Order extends Payment {
  done(): void;
  failed(reason: unknown): void;
}

const addressOf = (text: string): csl.Address =>
  csl.ByronAddress.is_valid(text) ? csl.ByronAddress.from_base58(text).to_address() : csl.Address.from_bech32(text);

export class Bank {
  private readonly user = new User();
  private readonly script = csl.NativeScript.new_script_pubkey(
    csl.ScriptPubkey.new(csl.Ed25519KeyHash.from_hex(this.user.keyHash)),
  );
  /** Policy of all assets that the bank mints, in hexadecimal. */
  readonly policy = this.script.hash().to_hex();
  private coin: Coin | undefined;
  private orders: Order[] = [];
  private paying = false;

  /**
   * @param devnet URL of the devnet's HTTP
   * @param submit sends the bytes of a signed transaction to the network
   */
  constructor(private readonly devnet: string, private readonly submit: (cbor: Uint8Array) => Promise<unknown>) {}

  /** Pays; resolves once the transaction is in the mempool. */
  async pay(payments: readonly Payment[]): Promise<void> {
    await Promise.all(
      payments.map((payment) =>
        new Promise<void>((done, failed) => {
          this.orders.push({ ...payment, done, failed });
          if (this.paying) return;
          this.paying = true;
          // orders of the same turn belong to one transaction
          setTimeout(() => void this.settle(), 5);
        })
      ),
    );
  }

  private async settle(): Promise<void> {
    while (this.orders.length > 0) {
      let weight = 0;
      const count = this.orders.findIndex(({ assets = {} }) =>
        (weight += 1 + ASSET_WEIGHT * Object.keys(assets).length) > MOST_WEIGHT
      );
      const orders = count < 0 ? this.orders.splice(0) : this.orders.splice(0, Math.max(1, count));
      try {
        await this.transfer(orders);
        for (const { done } of orders) done();
      } catch (error) {
        for (const { failed } of orders) failed(error);
      }
    }
    this.paying = false;
  }

  private async transfer(orders: readonly Order[]): Promise<void> {
    const needed = orders.reduce((sum, { lovelace }) => sum + lovelace, FEE + DRAW / 10n);
    const coins = this.coin ? [this.coin] : [];
    let held = coins.reduce((sum, { lovelace }) => sum + lovelace, 0n);
    while (held < needed) {
      const { status, body } = await http(this.devnet, "POST", "/faucet", {
        address: this.user.address,
        lovelace: Number(DRAW),
      });
      expect(status, JSON.stringify(body)).toBe(200);
      // the faucet's change comes after what it pays
      coins.push({ id: body.txHash, index: 0, lovelace: DRAW });
      held += DRAW;
    }
    const inputs = csl.TransactionInputs.new();
    for (const { id, index } of coins) inputs.add(csl.TransactionInput.new(csl.TransactionHash.from_hex(id), index));
    const outputs = csl.TransactionOutputs.new();
    const minted = new Map<string, bigint>();
    const add = (address: string, lovelace: bigint, assets: Readonly<Record<string, bigint>> = {}) => {
      const value = csl.Value.new(csl.BigNum.from_str(String(lovelace)));
      const names = Object.entries(assets);
      if (names.length > 0) {
        const own = csl.Assets.new();
        for (const [name, quantity] of names) {
          own.insert(csl.AssetName.new(hex(name)), csl.BigNum.from_str(String(quantity)));
          minted.set(name, (minted.get(name) ?? 0n) + quantity);
        }
        const all = csl.MultiAsset.new();
        all.insert(this.script.hash(), own);
        value.set_multiasset(all);
      }
      outputs.add(csl.TransactionOutput.new(addressOf(address), value));
    };
    for (const { address, lovelace, assets } of orders) add(address, lovelace, assets);
    const left = held - FEE - orders.reduce((sum, { lovelace }) => sum + lovelace, 0n);
    add(this.user.address, left);
    const body = csl.TransactionBody.new_tx_body(inputs, outputs, csl.BigNum.from_str(String(FEE)));
    const witnesses = csl.TransactionWitnessSet.new();
    if (minted.size > 0) {
      const own = csl.MintAssets.new();
      for (const [name, quantity] of minted) {
        own.insert(csl.AssetName.new(hex(name)), csl.Int.from_str(String(quantity)));
      }
      const mint = csl.Mint.new();
      mint.insert(this.script.hash(), own);
      body.set_mint(mint);
      const scripts = csl.NativeScripts.new();
      scripts.add(this.script);
      witnesses.set_native_scripts(scripts);
    }
    const signed = csl.FixedTransaction.from_hex(this.user.sign(csl.Transaction.new(body, witnesses).to_hex()));
    await this.submit(signed.to_bytes());
    this.coin = { id: signed.transaction_hash().to_hex(), index: orders.length, lovelace: left };
  }
}

const hex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16));
