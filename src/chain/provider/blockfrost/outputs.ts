/**
 * Unspent outputs of a Blockfrost service, decoded by `@blaze-cardano/query`'s Blockfrost provider where possible.
 *
 * The provider throws at Byron addresses and at native reference scripts, and needs two more requests for any reference
 * script. Byron outputs are decoded here. Outputs with a reference script, collateral outputs (which need not exist)
 * and whatever else the provider throws at are read from the CBOR of the transaction that made them. The provider's own
 * requests are not used: they have no bound in time and size, throw at an unused address, and give the outputs of a
 * transaction whether spent or not.
 */
import type { TransactionUnspentOutput } from "@blaze-cardano/core";
import { fromHex } from "#src/base/bytes.ts";
import { addressText, parseAddress, readAddressHex } from "#src/cardano/address.ts";
import { created, type ScannedTransaction } from "#src/cardano/block.ts";
import { decode } from "#src/cardano/cbor.ts";
import { type Output, type OutRef, readOutput, refKey, type Utxo } from "#src/cardano/output.ts";
import { madeOutput } from "#src/cardano/transaction.ts";
import {
  addressOutputs,
  type OutputDocument,
  parse,
  transactionOutputs,
} from "#src/chain/provider/blockfrost/documents.ts";
import { blockfrostError } from "#src/chain/provider/blockfrost/errors.ts";
import type { BlockfrostHttp } from "#src/chain/provider/blockfrost/http.ts";
import { setBounded } from "#src/base/maps.ts";
import { mapParallel } from "#src/base/parallel.ts";

const PAGE = 100;
/** Pages of one address at most: 50,000 outputs. */
const MAX_PAGES = 500;
const PARALLEL = 4;
/** Transactions whose outputs are cached. */
const MAX_CACHED = 500;

type Builder = (output: OutputDocument & { readonly tx_hash: string }) => Promise<TransactionUnspentOutput>;

/** Reads outputs from one service. */
export class BlockfrostOutputs {
  /** Cached outputs by transaction, then by reference; they never change. */
  private readonly cache = new Map<string, ReadonlyMap<string, Utxo>>();
  private builder: Promise<(address: string) => Builder> | undefined;

  constructor(
    private readonly http: BlockfrostHttp,
    private readonly readTransaction: (hash: string) => Promise<ScannedTransaction>,
  ) {}

  /** Unspent outputs at an address (bytes in hexadecimal); empty for an unused one. Throws `BlockfrostError`. */
  async atAddress(address: string): Promise<readonly Utxo[]> {
    const parsed = readAddressHex(address);
    if (!parsed.ok) {
      throw blockfrostError("unusable", `${address.slice(0, 200)} is not an address: ${parsed.error.message}`);
    }
    const text = addressText(parsed.value);
    const found = new Map<string, Utxo>();
    for (let page = 1; page <= MAX_PAGES; page++) {
      const answer = await this.http.find(`/addresses/${text}/utxos?count=${PAGE}&page=${page}&order=asc`);
      // an unused address: 404
      if (answer === undefined) break;
      const outputs = parse(addressOutputs, answer, "outputs");
      for (const utxo of await mapParallel(outputs, PARALLEL, (one) => this.decodeOutput(one.tx_hash, one))) {
        if (utxo?.output.address !== address) {
          throw blockfrostError("unusable", `The service returned an output of another address for ${text}.`);
        }
        found.set(refKey(utxo.ref), utxo);
      }
      if (outputs.length < PAGE) return [...found.values()];
    }
    if (found.size >= PAGE * MAX_PAGES) {
      throw blockfrostError("unusable", `${text} has more than ${found.size} outputs.`);
    }
    return [...found.values()];
  }

  /** The unspent ones of some outputs. Throws `BlockfrostError`. */
  async unspent(refs: readonly OutRef[]): Promise<readonly Utxo[]> {
    const byTransaction = new Map<string, Set<number>>();
    for (const { txHash, index } of refs) {
      byTransaction.set(txHash, (byTransaction.get(txHash) ?? new Set()).add(index));
    }
    const found = await mapParallel([...byTransaction], PARALLEL, ([hash, indices]) => this.unspentOf(hash, indices));
    return found.flat();
  }

  private async unspentOf(hash: string, indices: ReadonlySet<number>): Promise<readonly Utxo[]> {
    const answer = await this.http.find(`/txs/${hash}/utxos`);
    if (answer === undefined) return [];
    const { outputs } = parse(transactionOutputs, answer, "outputs of a transaction");
    const live: Utxo[] = [];
    for (const document of outputs) {
      if (!indices.has(document.output_index) || typeof document.consumed_by_tx === "string") continue;
      const utxo = await this.decodeOutput(hash, document, document.collateral === true);
      if (!utxo) continue;
      // if the service does not say whether an output is spent, look for it at its address
      if (document.consumed_by_tx === null || await this.isUnspent(utxo)) live.push(utxo);
    }
    return live;
  }

  private async isUnspent({ ref, output }: Utxo): Promise<boolean> {
    return (await this.atAddress(output.address)).some((other) => refKey(other.ref) === refKey(ref));
  }

  /**
   * Decodes an output; undefined if the transaction has none at that index. `doubtful`: the output may not exist
   * (collateral).
   */
  private async decodeOutput(txHash: string, document: OutputDocument, doubtful = false): Promise<Utxo | undefined> {
    const ref = { txHash, index: document.output_index };
    if (!doubtful && !document.reference_script_hash) {
      const output = /^addr/.test(document.address)
        ? await this.decodeWithLibrary(txHash, document)
        : decodeByronOutput(document);
      if (output) return { ref, output };
    }
    return (await this.readTransactionOutputs(txHash)).get(refKey(ref));
  }

  /** The output as the library decodes it; undefined if it throws. */
  private async decodeWithLibrary(tx_hash: string, document: OutputDocument): Promise<Output | undefined> {
    const build = await (this.builder ??= loadBuilder());
    try {
      const unspent = await build(document.address)({ ...document, tx_hash });
      return readOutput(decode(fromHex(unspent.output().toCbor())));
    } catch {
      return undefined;
    }
  }

  /** The outputs of a transaction, from its CBOR. */
  private async readTransactionOutputs(hash: string): Promise<ReadonlyMap<string, Utxo>> {
    const kept = this.cache.get(hash);
    if (kept) return kept;
    const outputs = new Map(created(await this.readTransaction(hash)).map((utxo) => [refKey(utxo.ref), utxo]));
    setBounded(this.cache, hash, outputs, MAX_CACHED);
    return outputs;
  }
}

/** An output at a Byron address: it holds only lovelace and assets. */
function decodeByronOutput({ address, amount, data_hash, inline_datum }: OutputDocument): Output | undefined {
  const parsed = parseAddress(address);
  if (!parsed.ok || data_hash || inline_datum) return undefined;
  const assets = new Map(
    amount.flatMap(({ unit, quantity }) => unit === "lovelace" ? [] : [[unit, quantity] as const]),
  );
  const lovelace = amount.find(({ unit }) => unit === "lovelace")?.quantity ?? 0n;
  return madeOutput({ address: parsed.value.hex, value: { lovelace, assets } });
}

/**
 * The provider's decoder of outputs. It is private in the library, whose public methods make their own requests; the
 * version is pinned, and a version without it fails the type check and this function. It is loaded at first use,
 * because the library is large.
 */
async function loadBuilder(): Promise<(address: string) => Builder> {
  const [{ Blockfrost }, { Address }] = await Promise.all([
    import("@blaze-cardano/query"),
    import("@blaze-cardano/core"),
  ]);
  const provider = new Blockfrost({ network: "cardano-preview", projectId: "" });
  const build: (address: InstanceType<typeof Address>) => Builder = provider["buildTransactionUnspentOutput"]
    .bind(provider);
  return (address) => build(Address.fromBech32(address));
}
