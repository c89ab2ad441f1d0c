/** Builds the transaction by which a requester takes a request back. */
import { z } from "zod";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { refKey } from "#src/cardano/output.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import { keyAddress } from "#src/contract/plutusAddress.ts";
import { NOT_REQUESTER } from "#src/contract/transactions/retract.ts";
import type { BuildAnswer, BuildContext } from "#src/runtime/types.ts";
import type { Queries } from "#src/store/store.ts";
import { refText, spentBy } from "#src/tokens/builds/requestText.ts";
import { outputRef, payer, reservedBuild, type TokenBuildOptions } from "#src/tokens/builds/reservedBuild.ts";
import { readRequest } from "#src/tokens/index/read.ts";
import { readNewestToken } from "#src/tokens/pendingTokens.ts";

export const retractInput = z.object({ ...payer, request: outputRef });

/** Builds the return of a request to its requester. */
export async function buildRetract(
  options: TokenBuildOptions,
  input: z.infer<typeof retractInput>,
  { entity, deadline }: BuildContext,
): Promise<BuildAnswer> {
  const read = async (sql: Queries) => {
    const { requests, spent } = await readNewestToken(sql, entity.id, options.networkId);
    const made = requests.find(({ utxo }) => refKey(utxo.ref) === input.request);
    return { found: made ?? await readRequest(sql, input.request), transaction: spent.get(input.request) };
  };
  const { value: known } = await atPoint(options.store, read);
  if (!known.found) return notOpen(input.request, known.transaction);
  const script = known.found.utxo.output.address.slice(2, 58);
  return await reservedBuild(
    options,
    { from: input, deadline, script },
    read,
    async (common, { found, transaction }) => {
      if (!found) return notOpen(input.request, transaction);
      if (found.owner !== keyAddress(input.address)?.payment) return NOT_REQUESTER;
      if (transaction !== undefined) return notOpen(input.request, transaction);
      const built = await options.builders.run("retract", { ...common, request: found.utxo }, { deadline });
      return built.ok ? ok({ built: built.value, more: {} }) : built;
    },
  );
}

/** The failure for a request that does not exist, or that a pending transaction spends. */
function notOpen(request: string, transaction: string | undefined): Result<never, Failure> {
  if (transaction === undefined) return fail("request_unknown", `No open request ${refText(request)} exists.`);
  const { code, message } = spentBy(transaction);
  return fail(code, message, { transaction });
}
