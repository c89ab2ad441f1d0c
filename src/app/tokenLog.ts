/** The settings of the log of tokens. */
import { isDevnet } from "#src/app/network.ts";
import type { Options } from "#src/app/options.ts";
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
