/**
 * Unspent outputs as a Blockfrost service tells them, read by `@blaze-cardano/query`'s Blockfrost provider as far as that goes.
 *
 * What it cannot read is read here: an output at an address of Byron, at which it throws; and out of the transaction that made it, one with
 * a reference script, for which it asks twice more and throws at native ones, one told as collateral, which need not exist at all, and
 * whatever else it throws at. Its own requests are not used: they have no bound in time and size, throw at an address that nobody has used, and
 * give the outputs of a transaction whether spent or not.
 */
import type { TransactionUnspentOutput } from "@blaze-cardano/core";
import { fromHex } from "#src/base/bytes.ts";
import { addressText, parseAddress, readAddressHex } from "#src/cardano/address.ts";
import { created } from "#src/cardano/block.ts";
import { decode } from "#src/cardano/cbor.ts";
import { type Output, type OutRef, readOutput, refKey, type Utxo } from "#src/cardano/output.ts";
import { madeOutput } from "#src/cardano/transaction.ts";
import { scanned } from "#src/chain/provider/blockfrost/block.ts";
import {
  addressOutputs,
  type OutputDocument,
  read,
  transactionDocument,
  transactionOutputs,
} from "#src/chain/provider/blockfrost/documents.ts";
import { apiError } from "#src/chain/provider/blockfrost/errors.ts";
import type { Http } from "#src/chain/provider/blockfrost/http.ts";
import { eachOf } from "#src/chain/provider/blockfrost/pace.ts";

const PAGE = 100;
/** Pages of one address: 50,000 outputs. */
const MOST_PAGES = 500;
const AT_ONCE = 4;
/** Transactions whose outputs are kept, for the next time. */
const KEPT = 500;

type Builder = (told: OutputDocument & { readonly tx_hash: string }) => Promise<TransactionUnspentOutput>;

/** Reads outputs of one service. */
export class Outputs {
  /** Outputs by reference, of transactions that were asked for; they never change. */
  private readonly made = new Map<string, ReadonlyMap<string, Utxo>>();
  private building: Promise<(address: string) => Builder> | undefined;

  constructor(private readonly http: Http) {}

  /** Unspent outputs at an address (bytes in hexadecimal); none where nobody has used it. Throws `ApiError`. */
  async atAddress(address: string): Promise<readonly Utxo[]> {
    const parsed = readAddressHex(address);
    if (!parsed.ok) throw apiError("unusable", `${address.slice(0, 200)} is no address: ${parsed.error.message}`);
    const text = addressText(parsed.value);
    const found = new Map<string, Utxo>();
    for (let page = 1; page <= MOST_PAGES; page++) {
      const answer = await this.http.find(`/addresses/${text}/utxos?count=${PAGE}&page=${page}&order=asc`);
      // nobody has used the address: 404
      if (answer === undefined) break;
      const told = read(addressOutputs, answer, "outputs");
      for (const utxo of await eachOf(told, AT_ONCE, (one) => this.outputOf(one.tx_hash, one))) {
        if (utxo?.output.address !== address) {
          throw apiError("unusable", `Told at ${text}: an output that is elsewhere.`);
        }
        found.set(refKey(utxo.ref), utxo);
      }
      if (told.length < PAGE) return [...found.values()];
    }
    if (found.size >= PAGE * MOST_PAGES) throw apiError("unusable", `${text} has more than ${found.size} outputs.`);
    return [...found.values()];
  }

  /** The unspent among some outputs. Throws `ApiError`. */
  async unspent(refs: readonly OutRef[]): Promise<readonly Utxo[]> {
    const byTransaction = new Map<string, Set<number>>();
    for (const { txHash, index } of refs) {
      byTransaction.set(txHash, (byTransaction.get(txHash) ?? new Set()).add(index));
    }
    const found = await eachOf([...byTransaction], AT_ONCE, ([hash, indices]) => this.unspentOf(hash, indices));
    return found.flat();
  }

  private async unspentOf(hash: string, indices: ReadonlySet<number>): Promise<readonly Utxo[]> {
    const answer = await this.http.find(`/txs/${hash}/utxos`);
    if (answer === undefined) return [];
    const { outputs } = read(transactionOutputs, answer, "outputs of a transaction");
    const live: Utxo[] = [];
    for (const told of outputs) {
      if (!indices.has(told.output_index) || typeof told.consumed_by_tx === "string") continue;
      const utxo = await this.outputOf(hash, told, told.collateral === true);
      if (!utxo) continue;
      // a service that does not tell who spent an output tells at least what stands at its address
      if (told.consumed_by_tx === null || await this.stands(utxo)) live.push(utxo);
    }
    return live;
  }

  private async stands({ ref, output }: Utxo): Promise<boolean> {
    return (await this.atAddress(output.address)).some((other) => refKey(other.ref) === refKey(ref));
  }

  /** An output that was told; undefined where its transaction made none at that place. */
  private async outputOf(txHash: string, told: OutputDocument, doubtful = false): Promise<Utxo | undefined> {
    const ref = { txHash, index: told.output_index };
    if (!doubtful && !told.reference_script_hash) {
      const output = /^addr/.test(told.address) ? await this.built(txHash, told) : byronOutput(told);
      if (output) return { ref, output };
    }
    return (await this.outputsOf(txHash)).get(refKey(ref));
  }

  /** The output as the library reads it; undefined where it throws at it. */
  private async built(tx_hash: string, told: OutputDocument): Promise<Output | undefined> {
    const build = await (this.building ??= loadBuilder());
    try {
      const unspent = await build(told.address)({ ...told, tx_hash });
      return readOutput(decode(fromHex(unspent.output().toCbor())));
    } catch {
      return undefined;
    }
  }

  /** The outputs of a transaction, out of its CBOR. */
  private async outputsOf(hash: string): Promise<ReadonlyMap<string, Utxo>> {
    const kept = this.made.get(hash);
    if (kept) return kept;
    const { cbor } = read(transactionDocument, await this.http.get(`/txs/${hash}/cbor`), "a transaction");
    const transaction = scanned(hash, cbor);
    if (transaction.hash !== hash) throw apiError("unusable", `What was told as transaction ${hash} is another one.`);
    const outputs = new Map(created(transaction).map((utxo) => [refKey(utxo.ref), utxo]));
    this.made.set(hash, outputs);
    if (this.made.size > KEPT) this.made.delete(this.made.keys().next().value!);
    return outputs;
  }
}

/** An output at an address of Byron: it holds lovelace and assets at the most. */
function byronOutput({ address, amount, data_hash, inline_datum }: OutputDocument): Output | undefined {
  const parsed = parseAddress(address);
  if (!parsed.ok || data_hash || inline_datum) return undefined;
  const assets = new Map(
    amount.flatMap(({ unit, quantity }) => unit === "lovelace" ? [] : [[unit, quantity] as const]),
  );
  const lovelace = amount.find(({ unit }) => unit === "lovelace")?.quantity ?? 0n;
  return madeOutput({ address: parsed.value.hex, value: { lovelace, assets } });
}

/**
 * The provider's way from a told output to an output. It is private there, and what is public around it makes requests of its own;
 * the version is pinned. Loaded when it is first used: the library is large.
 */
async function loadBuilder(): Promise<(address: string) => Builder> {
  const [{ Blockfrost }, { Address }] = await Promise.all([
    import("@blaze-cardano/query"),
    import("@blaze-cardano/core"),
  ]);
  const provider = new Blockfrost({ network: "cardano-preview", projectId: "" }) as unknown as {
    buildTransactionUnspentOutput(address: InstanceType<typeof Address>): Builder;
  };
  return (address) => provider.buildTransactionUnspentOutput(Address.fromBech32(address));
}
