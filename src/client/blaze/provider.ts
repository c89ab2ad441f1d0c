/** A Blaze provider over the token service of an Arbor instance, on any network that the instance is on. */
import { Core, type NetworkName, Provider } from "@blaze-cardano/sdk";
import { toHex } from "#src/base/bytes.ts";
import { blazeParameters, refText, unspentOutput } from "#src/client/blaze/convert.ts";
import { ChainClient, type ChainParameters } from "#src/client/chain.ts";
import { ApiError } from "#src/client/http.ts";
import { TokenClient } from "#src/client/tokens.ts";
import { addressFromHex } from "#src/client/witnesses.ts";

/** Longest wait of one request, in milliseconds. */
const LONGEST_WAIT_MS = 60_000;
/** Datums that are kept at most. */
const MOST_DATUMS = 1_000;

const NAMES: ReadonlyMap<number, NetworkName> = new Map([
  [764_824_073, "cardano-mainnet"],
  [1, "cardano-preprod"],
  [2, "cardano-preview"],
]);

const TAGS = {
  spend: Core.RedeemerTag.Spend,
  mint: Core.RedeemerTag.Mint,
  cert: Core.RedeemerTag.Cert,
  reward: Core.RedeemerTag.Reward,
  vote: Core.RedeemerTag.Voting,
  propose: Core.RedeemerTag.Proposing,
} as const;

/** How a provider reads. */
export interface ArborProviderOptions {
  /**
   * Whether outputs of transactions that were submitted to the instance and are in no block can be spent; default: they
   * can, so that transactions follow each other without waiting. What pending transactions spend is never given.
   */
  readonly pending?: boolean;
}

/**
 * Blaze's provider over an Arbor instance: parameters, outputs at one point with the pending ones, evaluation by the
 * instance's Plutus machine, submission. The instance is trusted for what outputs hold, as any provider is: the ledger
 * refuses a transaction that was balanced with false values.
 *
 * @throws {ApiError} by every method, where the service refuses or does not respond: a refused transaction in the words of the
 * ledger.
 *
 * @example
 * ```ts
 * import { Blaze, type Core, HotSingleWallet } from "@blaze-cardano/sdk";
 * import { ArborProvider } from "./src/client/blaze/provider.ts";
 *
 * export async function pay(key: Core.Ed25519PrivateNormalKeyHex, to: Core.Address, lovelace: bigint): Promise<string> {
 *   const provider = await ArborProvider.connect("http://127.0.0.1:3000");
 *   const blaze = await Blaze.from(provider, new HotSingleWallet(key, provider.network, provider));
 *   const transaction = await blaze.newTransaction().payLovelace(to, lovelace).complete();
 *   return await blaze.submitTransaction(await blaze.signTransaction(transaction));
 * }
 * ```
 */
export class ArborProvider extends Provider {
  /** The chain of the instance, for what Blaze has no words for. */
  readonly chain: ChainClient;
  readonly #tokens: TokenClient;
  readonly #slots: ChainParameters["slots"];
  readonly #pending: boolean;
  readonly #datums = new Map<string, Core.PlutusData>();

  private constructor(base: string, { network, slots }: ChainParameters, { pending = true }: ArborProviderOptions) {
    super(
      network.id === 1 ? Core.NetworkId.Mainnet : Core.NetworkId.Testnet,
      NAMES.get(network.magic) ?? "unknown",
    );
    this.chain = new ChainClient(base);
    this.#tokens = new TokenClient(base);
    this.#slots = slots;
    this.#pending = pending;
  }

  /** Connects to the token service at a URL, such as `http://127.0.0.1:3000`. */
  static async connect(base: string, options: ArborProviderOptions = {}): Promise<ArborProvider> {
    return new ArborProvider(base, await new ChainClient(base).parameters(), options);
  }

  override async getParameters(): Promise<Core.ProtocolParameters> {
    return blazeParameters(await this.chain.parameters());
  }

  /** Outputs of an address that can be spent, at one point. */
  override async getUnspentOutputs(address: Core.Address): Promise<Core.TransactionUnspentOutput[]> {
    return await this.#outputsOf(address);
  }

  override async getUnspentOutputsWithAsset(
    address: Core.Address,
    unit: Core.AssetId,
  ): Promise<Core.TransactionUnspentOutput[]> {
    return await this.#outputsOf(address, assetText(unit));
  }

  /**
   * The state output of a token of the instance.
   *
   * @throws {ApiError} `asset_not_indexed` for another asset: use `getUnspentOutputsWithAsset`.
   */
  override async getUnspentOutputByNFT(unit: Core.AssetId): Promise<Core.TransactionUnspentOutput> {
    const [output] = (await this.chain.assetOutput(assetText(unit))).outputs;
    if (!output) throw new ApiError(0, "malformed_answer", "The service's answer has no output.");
    return unspentOutput(output);
  }

  /**
   * Outputs that can be spent, in the order of the inputs.
   *
   * @throws {ApiError} `output_unknown` where one is unknown or spent.
   */
  override async resolveUnspentOutputs(txIns: Core.TransactionInput[]): Promise<Core.TransactionUnspentOutput[]> {
    const found = new Map((await this.chain.namedOutputs(txIns.map(refText))).map((one) => [one.outputRef, one]));
    return txIns.map((input) => {
      const output = found.get(refText(input));
      if (output) return unspentOutput(output);
      throw new ApiError(0, "output_unknown", `The output ${refText(input)} is unknown, or spent.`);
    });
  }

  /**
   * A datum of a transaction that this provider has submitted. The instance has no index of datums by hash; inline ones
   * come with their outputs.
   *
   * @throws {ApiError} `datum_unknown` for any other.
   */
  override resolveDatum(datumHash: Core.DatumHash): Promise<Core.PlutusData> {
    const datum = this.#datums.get(datumHash);
    if (datum) return Promise.resolve(datum);
    const message = `The datum ${datumHash} is of no transaction that was submitted here: keep it, or put it inline.`;
    return Promise.reject(new ApiError(0, "datum_unknown", message));
  }

  /** Waits until a block has a transaction; false after `timeout` milliseconds, 60,000 by default. */
  override async awaitTransactionConfirmation(
    txId: Core.TransactionId,
    timeout = LONGEST_WAIT_MS,
  ): Promise<boolean> {
    const end = Date.now() + timeout;
    for (let left = timeout; left > 0; left = end - Date.now()) {
      if (await this.#tokens.transaction(txId, { waitMs: Math.min(left, LONGEST_WAIT_MS) })) return true;
    }
    return false;
  }

  /**
   * Submits a signed transaction; its outputs can be spent at once.
   *
   * @throws {ApiError} `refused_by_ledger`, with the ledger's failures in the message and the details.
   */
  override async postTransactionToChain(tx: Core.Transaction): Promise<Core.TransactionId> {
    const hash = Core.TransactionId(await this.#tokens.submit(tx.toCbor()));
    for (const datum of tx.witnessSet().plutusData()?.values() ?? []) this.#keep(datum);
    return hash;
  }

  /**
   * Units of every redeemer, measured by the instance's Plutus machine. Of the additional outputs those count that the
   * instance does not know.
   *
   * @throws {ApiError} `script_refused`, with the reason for each redeemer.
   */
  override async evaluateTransaction(
    tx: Core.Transaction,
    additionalUtxos: Core.TransactionUnspentOutput[],
  ): Promise<Core.Redeemers> {
    const body = tx.body();
    const named = [body.inputs(), body.referenceInputs(), body.collateral()].flatMap((set) => [...set?.values() ?? []]);
    const wanted = new Set(named.map(refText));
    const additional = additionalUtxos.filter((utxo) => wanted.has(refText(utxo.input())))
      .map((utxo) => ({ outputRef: refText(utxo.input()), cbor: utxo.output().toCbor() }));
    const { redeemers } = await this.chain.evaluate(tx.toCbor(), additional);
    const units = new Map(redeemers.map((one) => [`${TAGS[one.purpose]} ${one.index}`, one]));
    const measured = [...tx.witnessSet().redeemers()?.values() ?? []].map((redeemer) => {
      const found = units.get(`${redeemer.tag()} ${redeemer.index()}`);
      if (!found) throw new ApiError(0, "malformed_answer", "The service's answer leaves a redeemer out.");
      return { ...redeemer.toCore(), executionUnits: { memory: Number(found.memory), steps: Number(found.steps) } };
    });
    return Core.Redeemers.fromCore(measured);
  }

  /** How the network's slots map to time. */
  override getSlotConfig(): Core.SlotConfig {
    const { zeroTime, zeroSlot, slotLength } = this.#slots;
    return { zeroTime, zeroSlot, slotLength };
  }

  /** The slot of a time in milliseconds since 1970. */
  override unixToSlot(unixMillis: bigint | number): Core.Slot {
    const { zeroTime, zeroSlot, slotLength } = this.#slots;
    return Core.Slot(zeroSlot + Math.floor((Number(unixMillis) - zeroTime) / slotLength));
  }

  async #outputsOf(address: Core.Address, asset?: string): Promise<Core.TransactionUnspentOutput[]> {
    const text = addressFromHex(toHex(Core.fromHex(address.toBytes())));
    const selection = { pending: this.#pending, ...(asset === undefined ? {} : { asset }) };
    return (await this.chain.outputs(text, selection)).outputs.map(unspentOutput);
  }

  #keep(datum: Core.PlutusData): void {
    if (this.#datums.size >= MOST_DATUMS) this.#datums.delete(this.#datums.keys().next().value ?? "");
    this.#datums.set(datum.hash(), datum);
  }
}

const assetText = (unit: Core.AssetId) => Core.AssetId.getPolicyId(unit) + Core.AssetId.getAssetName(unit);
