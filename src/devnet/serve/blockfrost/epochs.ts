/** Operations of the group Epochs. An epoch without a block has parameters and stake, but no document of its own. */
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import {
  epochExists,
  type EpochSummary,
  readBlockHashes,
  readEpochParameters,
  readEpochs,
  readEpochStakes,
} from "#src/devnet/index/reads/epochs.ts";
import { atOneState } from "#src/devnet/index/reads/page.ts";
import { poolExists } from "#src/devnet/index/reads/pools.ts";
import { epochParametersDocument } from "#src/devnet/serve/blockfrost/epochParameters.ts";
import { secondsOf, textOfAccount, textOfPool } from "#src/devnet/serve/blockfrost/documents.ts";
import { readEpochNumber, readPoolId } from "#src/devnet/serve/blockfrost/ids.ts";
import { get, list, type Operation } from "#src/devnet/serve/blockfrost/operation.ts";
import type { BlockfrostService } from "#src/devnet/serve/blockfrost/service.ts";
import type { Queries } from "#src/store/store.ts";

/** Reads what exists only in epochs that have begun; undefined for others. */
function inEpoch<T>(
  store: BlockfrostService["store"],
  number: number,
  read: (sql: Queries, epoch: number) => Promise<T>,
): Promise<T | undefined> {
  const epoch = readEpochNumber(number);
  return atOneState(store, async (sql) => await epochExists(sql, epoch) ? await read(sql, epoch) : undefined);
}

/** Epochs, and the parameters of the newest one. */
export function epochOperations({ devnet: { genesis }, store }: BlockfrostService): Operation[] {
  const document = (summary: EpochSummary) => epochDocument(genesis, summary);
  return [
    get("/epochs/latest", async () => {
      const [latest] = await readEpochs(store.sql, undefined);
      return latest && document(latest);
    }),
    get("/epochs/latest/parameters", async () => {
      const row = await readEpochParameters(store.sql, undefined);
      return row && epochParametersDocument(genesis, row);
    }),
    get("/epochs/{number}", async ({ number }) => {
      const epoch = readEpochNumber(number);
      const [found] = await readEpochs(store.sql, { from: epoch, to: epoch });
      return found && document(found);
    }),
    list(
      "/epochs/{number}/next",
      "paged",
      ({ number }, { page: { offset, limit } }) =>
        inEpoch(store, number, async (sql, epoch) => {
          const from = epoch + offset + 1;
          return (await readEpochs(sql, { from, to: from + limit - 1 })).map(document);
        }),
    ),
    list(
      "/epochs/{number}/previous",
      "paged",
      ({ number }, { page: { offset, limit } }) =>
        inEpoch(store, number, async (sql, epoch) => {
          const to = epoch - offset - 1;
          return (await readEpochs(sql, { from: to - limit + 1, to })).map(document);
        }),
    ),
  ];
}

/** Stake, blocks and parameters of an epoch. */
export function epochContentOperations({ devnet: { genesis }, store }: BlockfrostService): Operation[] {
  return [
    list(
      "/epochs/{number}/stakes",
      "paged",
      ({ number }, { page }) =>
        inEpoch(
          store,
          number,
          async (sql, epoch) =>
            (await readEpochStakes(sql, epoch, undefined, page)).map(({ credential, pool, lovelace }) => ({
              stake_address: textOfAccount(genesis.network.id, credential),
              pool_id: textOfPool(pool),
              amount: String(lovelace),
            })),
        ),
    ),
    list(
      "/epochs/{number}/stakes/{pool_id}",
      "paged",
      ({ number, pool_id }, { page }) =>
        inEpoch(store, number, async (sql, epoch) => {
          const pool = readPoolId(pool_id);
          if (!await poolExists(sql, pool)) return undefined;
          return (await readEpochStakes(sql, epoch, pool, page)).map(({ credential, lovelace }) => ({
            stake_address: textOfAccount(genesis.network.id, credential),
            amount: String(lovelace),
          }));
        }),
    ),
    list(
      "/epochs/{number}/blocks",
      "ordered",
      ({ number }, { page }) => inEpoch(store, number, (sql, epoch) => readBlockHashes(sql, { epoch }, page)),
    ),
    list(
      "/epochs/{number}/blocks/{pool_id}",
      "ordered",
      ({ number, pool_id }, { page }) =>
        inEpoch(store, number, async (sql, epoch) => {
          const pool = readPoolId(pool_id);
          return await poolExists(sql, pool) ? await readBlockHashes(sql, { epoch, pool }, page) : undefined;
        }),
    ),
    get("/epochs/{number}/parameters", async ({ number }) => {
      const row = await readEpochParameters(store.sql, readEpochNumber(number));
      return row && epochParametersDocument(genesis, row);
    }),
  ];
}

/** `epoch_content` of Blockfrost. */
export function epochDocument(
  genesis: Genesis,
  { epoch, blocks, transactions, first, last, output, fees, activeStake }: EpochSummary,
): object {
  const { epochLength } = genesis.terms;
  return {
    epoch,
    start_time: secondsOf(genesis, epoch * epochLength),
    end_time: secondsOf(genesis, (epoch + 1) * epochLength),
    first_block_time: secondsOf(genesis, first),
    last_block_time: secondsOf(genesis, last),
    block_count: blocks,
    tx_count: transactions,
    output: String(output),
    fees: String(fees),
    active_stake: activeStake === undefined ? null : String(activeStake),
  };
}
