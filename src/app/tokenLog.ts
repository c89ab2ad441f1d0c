/** The settings of the log of tokens. */
import { isDevnet } from "#src/app/network.ts";
import type { Options } from "#src/app/options.ts";
import type { AppContext } from "#src/app/context.ts";
import type { TokenLogReads } from "#src/operators/http/tokenLog.ts";
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
