/** Jobs that build wallet transactions. */
import type { Result } from "#src/base/result.ts";
import { balanceTransaction, runsScripts } from "#src/wallet/build/balance.ts";
import { construct, estimateFees } from "#src/wallet/build/construct.ts";
import { attempted, decodeTransaction } from "#src/wallet/build/decode.ts";
import { migrate } from "#src/wallet/build/migrate.ts";
import type { ConstructInput } from "#src/wallet/build/types.ts";
import { scriptsAt } from "#src/wallet/shared/scripts.ts";
import { sharedSigning } from "#src/wallet/shared/sign.ts";
import type { SharedConstructInput } from "#src/wallet/shared/types.ts";
import type { JobFailure, JobInput, JobValue } from "#src/builders/jobs.ts";

type WalletBuildJob =
  | "construct"
  | "fees"
  | "sharedConstruct"
  | "sharedFees"
  | "sharedSigning"
  | "migrate"
  | "balance"
  | "decode";
type WalletBuildHandlers = {
  [J in WalletBuildJob]: (input: JobInput<J>) => Promise<Result<JobValue<J>, JobFailure<J>>>;
};

async function withScripts({ payment, delegation, ...input }: SharedConstructInput): Promise<ConstructInput> {
  const scripts = await scriptsAt({ payment, delegation }, input.means.coins.map(({ path }) => path));
  return { ...input, means: { ...input.means, scripts } };
}

export const walletBuildJobs: WalletBuildHandlers = {
  async construct(input) {
    return construct(input);
  },
  async fees(input) {
    return estimateFees(input);
  },
  async sharedConstruct(input) {
    return construct(await withScripts(input));
  },
  async sharedFees(input) {
    return estimateFees(await withScripts(input));
  },
  async sharedSigning(input) {
    return attempted(() => sharedSigning(input));
  },
  async migrate(input) {
    return migrate(input);
  },
  async balance(input) {
    const { parameters, slots } = input;
    // the evaluator is loaded only if a script runs
    const evaluator = runsScripts(input) ? await import("#src/plutus/evaluate.ts") : undefined;
    return balanceTransaction(
      input,
      (transaction, utxos) => {
        if (!evaluator) throw new TypeError("a transaction without redeemers has nothing to evaluate");
        return evaluator.evaluateScripts({ transaction, utxos, parameters, slots });
      },
    );
  },
  async decode(input) {
    return decodeTransaction(input);
  },
};
