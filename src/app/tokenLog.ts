/** The settings of the log of tokens. */
import { isDevnet } from "#src/app/network.ts";
import type { Options } from "#src/app/options.ts";
import type { AppContext } from "#src/app/context.ts";
import type { TokenLogReads } from "#src/operators/http/tokenLog.ts";
import { readEveryBlock } from "#src/chain/index/cursor.ts";
import { readRootSnapshots, readSnapshotsUntil } from "#src/chain/index/outputSet.ts";
import { devnetUtxoRoot } from "#src/devnet/utxoRoot.ts";
import type { Snapshots } from "#src/tokens/log/append.ts";
import { readLogCounts, readLogStatus } from "#src/tokens/log/status.ts";
import { DEVNET_LOG_DEPTH, LOG_DEPTH, type LogSettings } from "#src/tokens/log/settings.ts";

/** The settings of a process, with a default for each that is not given. */
export function tokenLogOf(options: Options): LogSettings {
  return {
    depth: isDevnet(options) ? DEVNET_LOG_DEPTH : LOG_DEPTH,
    witnesses: [],
    witnessFor: [],
    ...options.tokenLog,
  };
}

/** Reads of the log for operators. */
export function tokenLogReads({ store: { sql }, options }: Pick<AppContext, "store" | "options">): TokenLogReads {
  const settings = tokenLogOf(options);
  return {
    counts: () => readLogCounts(sql, settings),
    status: () => readLogStatus(sql, options.networkMagic, settings),
  };
}

/** The roots that enter the log, where they are wanted: the devnet's, or those that the follower keeps. */
export function logSnapshots({ store, options }: Pick<AppContext, "store" | "options">): Snapshots | undefined {
  const every = tokenLogOf(options).snapshots;
  if (every === undefined) return undefined;
  if (!isDevnet(options)) {
    return { every, blocks: (sql, span) => readRootSnapshots(sql, every, span), until: readSnapshotsUntil };
  }
  const reads = devnetUtxoRoot(store);
  return {
    every,
    blocks: async (sql, span) => {
      const blocks = await readEveryBlock(sql, every, span);
      const roots = await reads.rootsOf(sql, blocks.map(({ hash }) => hash));
      return blocks.map((block) => ({ ...block, root: roots.get(block.hash) ?? null }));
    },
  };
}
