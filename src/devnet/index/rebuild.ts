/**
 * Builds the index of a chain from its genesis and its blocks, by applying every block to the ledger again. Scripts do
 * not run and no rule is checked: the blocks are of this chain.
 */
import { fromHex } from "#src/base/bytes.ts";
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import type { Log } from "#src/base/log.ts";
import { keyHash, publicKey } from "#src/cardano/keys/signingKey.ts";
import { type Output, refKey } from "#src/cardano/output.ts";
import { scanBlock } from "#src/cardano/scan.ts";
import { bodySize } from "#src/devnet/blocks/block.ts";
import { transactionCbor } from "#src/devnet/blocks/mempool.ts";
import { readBlocks, readTip } from "#src/devnet/blocks/rows.ts";
import { type Genesis, genesisEntries, genesisOutputs } from "#src/devnet/genesis/genesis.ts";
import type { IndexedBlock } from "#src/devnet/index/foldBlock.ts";
import { foldGenesis } from "#src/devnet/index/genesisRows.ts";
import type { IndexedTransaction } from "#src/devnet/index/transactionRows.ts";
import { clearIndex, indexBlocks, writeChanges } from "#src/devnet/index/write.ts";
import { ChangeSet, writeEntries } from "#src/devnet/ledger/changes.ts";
import { enterEpoch } from "#src/devnet/ledger/epoch.ts";
import { applyDelta, write as writeTable } from "#src/ledger/delta.ts";
import { blockMade } from "#src/ledger/epoch/pass.ts";
import { type MutableLedgerState, newState } from "#src/ledger/state.ts";
import { reapply } from "#src/ledger/validate.ts";
import type { Queries } from "#src/store/store.ts";

/** Blocks of one database transaction. */
const BATCH = 100;

/** The chain of an index. */
interface RebuildSettings {
  readonly sql: Queries;
  /** Does work in a database transaction, as the only writer of the chain. */
  readonly write: (work: (sql: Queries) => Promise<void>) => Promise<void>;
  readonly genesis: Genesis;
  readonly log: Log;
}

/**
 * Builds the index again unless it ends at the chain's tip. Must run while no block is appended or undone. Yields to
 * the event loop regularly; after an interruption the next call starts again.
 */
export async function rebuildIndex({ sql, write, genesis, log }: RebuildSettings): Promise<void> {
  const tip = await readTip(sql);
  const [end] = await sql<{ height: bigint; hash: string }[]>`select height, hash from devnet_index`;
  if (end && Number(end.height) === tip.height && end.hash === tip.hash) return;
  if (tip.height >= 0) log.info("the index of the devnet is built from its blocks", { blocks: tip.height + 1 });
  const state = genesisState(genesis);
  const first = foldGenesis(genesis, state);
  await write(async (sql) => {
    await clearIndex(sql);
    await writeChanges(sql, first, { height: -1, hash: "" });
  });
  const pacer = new EventLoopPacer();
  for (let height = 0; height <= tip.height; height += BATCH) {
    const { blocks } = await readBlocks(sql, height, BATCH);
    const applied: IndexedBlock[] = [];
    for (const { bytes } of blocks) {
      applied.push(await replayBlock(state, genesis, bytes));
      await pacer.step();
    }
    await write((sql) => indexBlocks(sql, applied));
  }
  if (tip.height >= 0) log.info("the index of the devnet is complete", { height: tip.height });
}

/** The ledger before the first block. */
export function genesisState(genesis: Genesis): MutableLedgerState {
  const { parameters, network } = genesis;
  const outputs = new Map<string, Output>(genesisOutputs(genesis).map(({ ref, output }) => [refKey(ref), output]));
  const state = newState({ parameters, network: network.id, outputs });
  writeEntries(state, genesisEntries(genesis), "after");
  return state;
}

/** Applies a block of the chain (`[era, block]`) to the ledger at the block before it. */
export async function replayBlock(
  state: MutableLedgerState,
  genesis: Genesis,
  bytes: Uint8Array,
): Promise<IndexedBlock> {
  const { height, slot, hash, issuer, header, transactions } = scanBlock(bytes);
  const boundaries = await enterEpoch(state, slot, genesis.terms, new ChangeSet(state));
  const { epoch, parameters } = state;
  const applied: IndexedTransaction[] = [];
  const pacer = new EventLoopPacer();
  for (const transaction of transactions) {
    const one = await reapply(state, transactionCbor(transaction));
    applyDelta(state, one);
    applied.push({ transaction, applied: one });
    await pacer.step();
  }
  const pool = producerOf(genesis, fromHex(issuer ?? ""));
  if (pool !== undefined) writeTable(state.blocks, [blockMade(state, pool)], "after");
  return { height, hash, epoch, parameters, size: bodySize(header), pool, boundaries, transactions: applied };
}

/** The pool whose blocks have a key, whose hash is its id except for a pool of the genesis with an unknown cold key. */
function producerOf({ issuer, pools }: Genesis, key: Uint8Array): string | undefined {
  const hash = keyHash(key);
  if (hash === keyHash(issuer)) return undefined;
  return pools.find(({ coldSeed }) => keyHash(publicKey(coldSeed)) === hash)?.id ?? hash;
}
