/** A Blaze wallet over a wallet of the wallet service, which has its keys. */
import { type CIP30DataSignature, Core, type Wallet } from "@blaze-cardano/sdk";
import type { ArborProvider } from "#src/client/blaze/provider.ts";
import { unspentOutput } from "#src/client/blaze/convert.ts";
import { ApiError } from "#src/client/http.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { transactionHash } from "#src/client/witnesses.ts";

/** Which wallet, and how it signs. */
export interface ArborWalletOptions {
  /** URL of the wallet service, such as `http://127.0.0.1:8090/v2`. */
  readonly wallets: string;
  /** Id of the wallet. */
  readonly id: string;
  /** Gives the passphrase for each signature. */
  readonly passphrase: () => string | Promise<string>;
  /** The network of the wallet. */
  readonly provider: Pick<ArborProvider, "network">;
}

/**
 * Blaze's wallet over a Shelley wallet of an Arbor instance. All of its outputs pay, those of its pending transactions
 * included; change goes to its next unused address.
 *
 * Signing: the wallet service holds the keys and signs every transaction that it receives (`transactions-sign`), without
 * checking its effect. This wallet accepts only signatures from the answer, and only if they are of the same transaction.
 * Give it what Blaze has built here, or a `CheckedTransaction` by `signChecked`.
 *
 * @throws {ApiError} by every method, where the service refuses or does not respond.
 */
export class ArborWallet implements Wallet {
  readonly #client: WalletClient;
  readonly #options: ArborWalletOptions;

  constructor(options: ArborWalletOptions) {
    this.#client = new WalletClient(options.wallets);
    this.#options = options;
  }

  getNetworkId(): Promise<Core.NetworkId> {
    return Promise.resolve(this.#options.provider.network);
  }

  async getUnspentOutputs(): Promise<Core.TransactionUnspentOutput[]> {
    const query = { references: "true", pending: "true" } as const;
    const { entries } = await this.#client.utxos(this.#options.id, "wallets", query);
    return entries.map(({ id, index, cbor }) => {
      if (id === undefined || index === undefined || cbor === undefined) {
        throw new ApiError(0, "malformed_answer", "The service does not name the wallet's outputs.");
      }
      return unspentOutput({ outputRef: `${id}-${index}`, cbor });
    });
  }

  /** The sum of all outputs. */
  async getBalance(): Promise<Core.Value> {
    let lovelace = 0n;
    const assets = new Map<Core.AssetId, bigint>();
    for (const utxo of await this.getUnspentOutputs()) {
      const amount = utxo.output().amount();
      lovelace += amount.coin();
      for (const [unit, quantity] of amount.multiasset() ?? []) assets.set(unit, (assets.get(unit) ?? 0n) + quantity);
    }
    return new Core.Value(lovelace, assets);
  }

  getUsedAddresses(): Promise<Core.Address[]> {
    return this.#addresses({ state: "used" });
  }

  getUnusedAddresses(): Promise<Core.Address[]> {
    return this.#addresses({ state: "unused" });
  }

  async getChangeAddress(): Promise<Core.Address> {
    return Core.Address.fromBech32((await this.#client.nextAddress(this.#options.id)).id);
  }

  async getRewardAddresses(): Promise<Core.RewardAddress[]> {
    const { delegationPart } = (await this.getChangeAddress()).getProps();
    if (!delegationPart) return [];
    const credential = Core.Credential.fromCore(delegationPart).toCore();
    return [Core.RewardAddress.fromCredentials(this.#options.provider.network, credential)];
  }

  /** Signatures of the wallet's keys that the transaction lacks. Whether others must sign as well is not checked. */
  async signTransaction(tx: Core.Transaction, _partialSign?: boolean): Promise<Core.TransactionWitnessSet> {
    const unsigned = tx.toCbor();
    const passphrase = await this.#options.passphrase();
    const answer = await this.#client.sign(this.#options.id, unsigned, passphrase);
    const signed = Core.Transaction.fromCbor(Core.TxCBOR(hexOf(answer.transaction)));
    if (transactionHash(signed.toCbor()) !== transactionHash(unsigned)) {
      throw new ApiError(0, "wrong_hash", "The service has signed another transaction.");
    }
    const before = new Set((tx.witnessSet().vkeys()?.toCore() ?? []).map(([key]) => key));
    const added = (signed.witnessSet().vkeys()?.toCore() ?? []).filter(([key]) => !before.has(key));
    return Core.TransactionWitnessSet.fromCore({ signatures: new Map(added) });
  }

  /** @throws {ApiError} `not_supported`: the wallet service signs no data (CIP-8). */
  signData(_address: Core.Address, _payload: string): Promise<CIP30DataSignature> {
    return Promise.reject(new ApiError(0, "not_supported", "A wallet of the wallet service signs no data (CIP-8)."));
  }

  /** Submits through the wallet service, so that the wallet knows the transaction as its own. */
  async postTransaction(tx: Core.Transaction): Promise<Core.TransactionId> {
    return Core.TransactionId((await this.#client.submit(this.#options.id, tx.toCbor())).id);
  }

  /** None: Blaze chooses collateral among the outputs. */
  getCollateral(): Promise<Core.TransactionUnspentOutput[]> {
    return Promise.resolve([]);
  }

  async #addresses(query: { readonly state: "used" | "unused" }): Promise<Core.Address[]> {
    const all = await this.#client.addresses(this.#options.id, query);
    return all.map(({ id }) => Core.Address.fromBech32(id));
  }
}

/** Hexadecimal of a transaction that is in base64 or hexadecimal. */
const hexOf = (text: string) =>
  /^[0-9a-f]+$/i.test(text) ? text : Core.toHex(Uint8Array.from(atob(text), (one) => one.charCodeAt(0)));
