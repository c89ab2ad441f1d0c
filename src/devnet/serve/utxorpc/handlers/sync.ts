/** The service `sync`: blocks of the chain, and their succession. */
import type { sync } from "@utxorpc/spec/lib/index.mjs";
import { scanBlock } from "#src/cardano/scan.ts";
import { type BlockName, readBlock, readBlocks, readTip, type StoredBlock } from "#src/devnet/blocks/rows.ts";
import { atOneState } from "#src/devnet/index/reads/page.ts";
import { type ChainBlock, chainEvents } from "#src/devnet/serve/utxorpc/chainEvents.ts";
import { anyBlocks, hashOf, namedBlocks, pointsOf } from "#src/devnet/serve/utxorpc/handlers/blocks.ts";
import type { Streaming, Unary } from "#src/devnet/serve/utxorpc/handlers/handler.ts";
import { notFound, pointMessage, type Served } from "#src/devnet/serve/utxorpc/served.ts";

/** Most blocks of an answer, and bytes after which it has no more; the next ones follow by its token. */
const MOST_BLOCKS = 100;
const ENOUGH_BYTES = 1_500_000;

export interface SyncHandlers {
  readonly readTip: Unary<sync.ReadTipRequest, sync.ReadTipResponse>;
  readonly fetchBlock: Unary<sync.FetchBlockRequest, sync.FetchBlockResponse>;
  readonly dumpHistory: Unary<sync.DumpHistoryRequest, sync.DumpHistoryResponse>;
  readonly followTip: Streaming<sync.FollowTipRequest, sync.FollowTipResponse>;
}

/** The handlers for a devnet. */
export function syncHandlers(served: Served): SyncHandlers {
  const { store } = served;
  return {
    readTip: async () => {
      const tip = pointMessage(served, await readTip(store.sql));
      // before 0.18 the answer had the time beside the block
      const answer = { tip, timestamp: tip.timestamp };
      return answer;
    },
    fetchBlock: async ({ ref: refs }) =>
      await atOneState(store, async (sql) => {
        const blocks: ChainBlock[] = [];
        for (const ref of namedBlocks(refs)) {
          const slot = Number(ref.slot);
          const found = await readBlock(sql, nameOf(ref));
          const bySlot = hashOf(ref) === undefined && ref.height === 0n && slot !== 0;
          if (!found || (bySlot && found.slot !== slot)) {
            throw notFound(`The chain has no block with ${hashOf(ref) ?? `height ${ref.height}, slot ${slot}`}.`);
          }
          blocks.push(scanned(found));
        }
        return { block: await anyBlocks(served, sql, blocks) };
      }),
    dumpHistory: async ({ startToken, maxItems }) =>
      await atOneState(store, async (sql) => {
        const first = startToken && await readBlock(sql, nameOf(startToken));
        if (startToken && !first && hashOf(startToken) !== undefined) {
          throw notFound("The chain has no block with the hash of start_token.");
        }
        if (startToken && !first) return { block: [] };
        const limit = Math.min(maxItems || MOST_BLOCKS, MOST_BLOCKS);
        const { blocks } = await readBlocks(sql, first?.height ?? 0, limit + 1);
        let bytes = 0;
        const page = blocks.slice(0, limit).filter((block, index) => {
          const taken = index === 0 || bytes < ENOUGH_BYTES;
          bytes += block.bytes.length;
          return taken;
        });
        const next = blocks[page.length];
        return {
          block: await anyBlocks(served, sql, page.map(scanned)),
          ...(next ? { nextToken: pointMessage(served, next) } : {}),
        };
      }),
    followTip: async function* ({ intersect }, signal) {
      for await (const event of chainEvents(served, pointsOf(intersect), signal)) {
        if (!event) throw notFound("The chain has none of the blocks of intersect.");
        const tip = pointMessage(served, event.tip);
        if (event.kind === "reset") {
          yield { action: { case: "reset", value: pointMessage(served, event.at) }, tip };
          continue;
        }
        for (const value of await anyBlocks(served, store.sql, [event])) {
          yield { action: { case: event.kind, value }, tip };
        }
      }
    },
  };
}

function nameOf(ref: sync.BlockRef): BlockName {
  const hash = hashOf(ref);
  if (hash !== undefined) return { hash };
  return ref.height === 0n && ref.slot !== 0n ? { fromSlot: numberOf(ref.slot) } : { height: numberOf(ref.height) };
}

/** A number of a request; no chain has the great ones. */
function numberOf(value: bigint): number {
  return Math.min(Number(value), Number.MAX_SAFE_INTEGER);
}

function scanned({ bytes }: StoredBlock): ChainBlock {
  return { bytes, block: scanBlock(bytes) };
}
