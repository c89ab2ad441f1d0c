/** Builds the transaction that creates a token. */
import { ok } from "#src/base/result.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { newestScript } from "#src/contract/script.ts";
import type { BuildAnswer } from "#src/runtime/types.ts";
import { reservedBuild, type TokenBuildOptions } from "#src/tokens/builds/reservedBuild.ts";
import type { TokenPayer } from "#src/tokens/builds/tokenFunds.ts";

/** Builds the transaction that creates a token. There is no actor yet, so that the edge calls it. */
export function tokenBoot(options: TokenBuildOptions) {
  return (from: TokenPayer, deadline: number): Promise<BuildAnswer> => {
    const build = { from, deadline, script: (parameters: Parameters) => newestScript(parameters).hash };
    return reservedBuild(options, build, () => Promise.resolve(null), async (input) => {
      const built = await options.builders.run("boot", input, { deadline });
      return built.ok ? ok({ built: built.value, more: { value: built.value.token } }) : built;
    });
  };
}
