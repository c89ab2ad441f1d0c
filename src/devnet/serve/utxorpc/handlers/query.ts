/** The service `query`: the state of the ledger and of the chain. */
import type { query } from "@utxorpc/spec/lib/index.mjs";
import { fromHex } from "#src/base/bytes.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { readTip } from "#src/devnet/blocks/rows.ts";
import { atOneState } from "#src/devnet/index/reads/page.ts";
import { readDatum } from "#src/devnet/index/reads/scripts.ts";
import { readTransaction } from "#src/devnet/index/reads/transactions.ts";
import { readUnspent, searchUnspent, type UnspentOutput, type UnspentPlace } from "#src/devnet/index/reads/unspent.ts";
import { SnapshotCache } from "#src/devnet/ledger/snapshotCache.ts";
import { byronHash } from "#src/devnet/genesis/json.ts";
import { eraHistory } from "#src/devnet/serve/nodeGenesis.ts";
import { atTip } from "#src/devnet/serve/stateRows.ts";
import type { Unary } from "#src/devnet/serve/utxorpc/handlers/handler.ts";
import type { Draft } from "#src/devnet/serve/utxorpc/messages/draft.ts";
import { genesisMessage } from "#src/devnet/serve/utxorpc/messages/genesis.ts";
import { dataMessageOf } from "#src/devnet/serve/utxorpc/messages/nested.ts";
import { outputMessage } from "#src/devnet/serve/utxorpc/messages/output.ts";
import { parametersMessage } from "#src/devnet/serve/utxorpc/messages/parameters.ts";
import { transactionMessageOf } from "#src/devnet/serve/utxorpc/messages/transaction.ts";
import { readsIndex, unspentFilter } from "#src/devnet/serve/utxorpc/patterns.ts";
import { resolveInputs } from "#src/devnet/serve/utxorpc/resolve.ts";
import {
  hexOf,
  invalid,
  notFound,
  pointMessage,
  requireIndex,
  type Served,
  timeOf,
} from "#src/devnet/serve/utxorpc/served.ts";
import { protocolParameters } from "#src/ledger/governance/parameters.ts";

/** Most outputs of an answer; the next ones follow by its token. */
const MOST_OUTPUTS = 10_000;
/** Most keys of a request. */
const MOST_KEYS = 5_000;
const HASH_BYTES = 32;
const ERAS = ["byron", "shelley", "allegra", "mary", "alonzo", "babbage", "conway"] as const;
const PICOSECONDS = 1_000_000_000n;

export interface QueryHandlers {
  readonly readParams: Unary<query.ReadParamsRequest, query.ReadParamsResponse>;
  readonly readUtxos: Unary<query.ReadUtxosRequest, query.ReadUtxosResponse>;
  readonly searchUtxos: Unary<query.SearchUtxosRequest, query.SearchUtxosResponse>;
  readonly readData: Unary<query.ReadDataRequest, query.ReadDataResponse>;
  readonly readTx: Unary<query.ReadTxRequest, query.ReadTxResponse>;
  readonly readGenesis: Unary<query.ReadGenesisRequest, query.ReadGenesisResponse>;
  readonly readEraSummary: Unary<query.ReadEraSummaryRequest, query.ReadEraSummaryResponse>;
}

/** The handlers for a devnet. */
export function queryHandlers(served: Served): QueryHandlers {
  const { devnet, store, form } = served;
  const { sql } = store;
  const snapshots = new SnapshotCache();
  const parametersAtTip = () =>
    atTip(store, devnet.genesis, snapshots, async (view) => ({
      tip: view.tip,
      parameters: parametersMessage(protocolParameters((await view.registry(["parameters"])).parameters), form),
    }));
  const unspentMessage = ({ ref, output, block }: UnspentOutput): Draft<query.AnyUtxoData> => ({
    nativeBytes: output.raw,
    txoRef: { hash: fromHex(ref.txHash), index: ref.index },
    parsedState: { case: "cardano", value: outputMessage(output, form) },
    ...(block ? { blockRef: pointMessage(served, block) } : {}),
  });
  return {
    readParams: async () => {
      const { tip, parameters } = await parametersAtTip();
      return { values: { params: { case: "cardano", value: parameters } }, ledgerTip: pointMessage(served, tip) };
    },
    readUtxos: async ({ keys }) => {
      if (keys.length > MOST_KEYS) throw invalid(`A request may have ${MOST_KEYS} keys.`);
      const refs = keys.map(({ hash, index }): OutRef => {
        if (index > 0xffff) throw invalid("The index of an output is at most 65535.");
        return { txHash: hexOf(hash, HASH_BYTES, "The hash of a transaction"), index };
      });
      const { tip, outputs } = await readUnspent(sql, refs);
      const found = new Map(outputs.map((one) => [refKey(one.ref), one]));
      const items = refs.flatMap((ref) => {
        const one = found.get(refKey(ref));
        return one ? [unspentMessage(one)] : [];
      });
      return { items, ledgerTip: pointMessage(served, tip) };
    },
    searchUtxos: async ({ predicate, maxItems, startToken }) => {
      if (maxItems < 0) throw invalid("max_items is negative.");
      const filter = unspentFilter(predicate);
      if (readsIndex(filter)) requireIndex(served, "A search by payment credential or by asset");
      const limit = Math.min(maxItems || MOST_OUTPUTS, MOST_OUTPUTS);
      const after = startToken === "" ? undefined : placeOf(startToken);
      const { tip, outputs } = await searchUnspent(sql, filter, { limit: limit + 1, after });
      const page = outputs.slice(0, limit);
      const last = outputs.length > limit ? page.at(-1) : undefined;
      return {
        items: page.map(unspentMessage),
        ledgerTip: pointMessage(served, tip),
        nextToken: last ? `${last.height}.${refKey(last.ref)}` : "",
      };
    },
    readData: async ({ keys }) => {
      requireIndex(served, "A search for a datum");
      if (keys.length > MOST_KEYS) throw invalid(`A request may have ${MOST_KEYS} keys.`);
      const hashes = keys.map((key) => hexOf(key, HASH_BYTES, "The hash of a datum"));
      return await atOneState(store, async (sql) => {
        const values: Draft<query.AnyChainDatum>[] = [];
        for (const hash of hashes) {
          const cbor = await readDatum(sql, hash);
          if (!cbor) throw notFound(`The chain has no datum with the hash ${hash}.`);
          const data = dataMessageOf(cbor);
          values.push({
            nativeBytes: cbor,
            key: fromHex(hash),
            ...(data ? { parsedState: { case: "cardano", value: data } } : {}),
          });
        }
        return { values, ledgerTip: pointMessage(served, await readTip(sql)) };
      });
    },
    readTx: async ({ hash: bytes }) => {
      requireIndex(served, "A search for a transaction");
      const hash = hexOf(bytes, HASH_BYTES, "The hash of a transaction");
      return await atOneState(store, async (sql) => {
        const found = await readTransaction(sql, hash);
        if (!found?.cbor || found.block === null || found.slot === null) {
          throw notFound(`The chain has no transaction with the hash ${hash}.`);
        }
        const cbor = new Uint8Array(found.cbor);
        const resolved = await resolveInputs(sql, [scanTransaction(cbor)], true);
        const message = transactionMessageOf(cbor, resolved, form);
        const block = { hash: found.block, slot: Number(found.slot), height: Number(found.height) };
        return {
          tx: {
            nativeBytes: cbor,
            ...(message ? { chain: { case: "cardano", value: message } } : {}),
            blockRef: pointMessage(served, block),
          },
          ledgerTip: pointMessage(served, await readTip(sql)),
        };
      });
    },
    readGenesis: async () => ({
      genesis: fromHex(byronHash(devnet.genesis)),
      caip2: caip2Of(devnet.network.magic),
      config: { case: "cardano", value: genesisMessage(devnet.genesis, form) },
    }),
    readEraSummary: async () => {
      const { tip, parameters } = await parametersAtTip();
      const boundary = ({ time, slot, epoch }: { time: bigint; slot: number; epoch: number }) => ({
        time: BigInt(timeOf(served, 0)) + time / PICOSECONDS,
        slot: BigInt(slot),
        epoch: BigInt(epoch),
      });
      const summaries = eraHistory(devnet.genesis, tip).map(({ start, end }, era) => {
        const name = ERAS[era] ?? "unknown";
        if (name === "conway") return { name, start: boundary(start), protocolParams: parameters };
        return { name, start: boundary(start), ...(end ? { end: boundary(end) } : {}) };
      });
      return { summary: { case: "cardano", value: { summaries } } };
    },
  };
}

/** The place behind a token of `searchUtxos`. */
function placeOf(token: string): UnspentPlace {
  const [, height, txHash, index] = /^(-1|\d{1,15})\.([0-9a-f]{64})#(\d{1,5})$/.exec(token) ?? [];
  if (height === undefined || txHash === undefined) throw invalid("start_token is none that this server gave.");
  return { height: Number(height), txHash, index: Number(index) };
}

/** The network in the form of CAIP-2. */
function caip2Of(magic: number): string {
  const names = new Map([[764_824_073, "mainnet"], [1, "preprod"], [2, "preview"]]);
  return `cardano:${names.get(magic) ?? magic}`;
}
