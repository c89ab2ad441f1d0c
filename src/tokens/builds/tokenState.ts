/** The state of a token that a build uses, where the token's machine accepts it. */
import { refusalOf, type TokenIntent } from "#machines/token.ts";
import { present } from "#src/base/present.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { nameOf, policyOf } from "#src/cardano/value.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import { keyAddress } from "#src/contract/plutusAddress.ts";
import { cageScript } from "#src/contract/script.ts";
import type { BuildInput } from "#src/contract/transactions/common.ts";
import { NOT_OWNER } from "#src/contract/transactions/state.ts";
import type { BuildAnswer, BuildContext } from "#src/runtime/types.ts";
import type { Queries } from "#src/store/store.ts";
import { reservedBuild, type TokenBuild, type TokenBuildOptions } from "#src/tokens/builds/reservedBuild.ts";
import type { TokenPayer } from "#src/tokens/builds/tokenFunds.ts";
import { readToken, type TokenState } from "#src/tokens/index/read.ts";
import { type NewestToken, readNewestToken } from "#src/tokens/pendingTokens.ts";

/**
 * The newest state of a token that accepts an intent, of the ledger or of a pending transaction. Fails with the refusal
 * of the machine; and with `token_pending` where a pending transaction ends the token, or two pending ones exclude each
 * other: nothing can follow them before a block decides.
 */
export function stateFor(
  intent: TokenIntent,
  { after, transaction, conflict }: NewestToken,
  token: string,
): Result<TokenState, Failure> {
  if (conflict) {
    return tokenPending(conflict[0], `${conflict[0]} and ${conflict[1]} spend the same output of the contract`);
  }
  const state = "state" in after ? after.state : undefined;
  switch (refusalOf(after.status === "unknown" ? "absent" : after.status, intent)) {
    case undefined:
      return ok(present(state, "the state of a token that accepts an intent"));
    case "token_quarantined":
      return quarantined(state?.quarantine);
    case "token_unknown":
      return fail("token_unknown", `The token ${token} does not exist on the ledger.`);
    case "token_ended":
      return transaction === undefined
        ? fail("token_ended", "The token has ended.")
        : tokenPending(transaction, `${transaction} ends the token`);
  }
}

const tokenPending = (transaction: string, why: string): Result<never, Failure> =>
  fail("token_pending", `The token cannot be built on: ${why}, and no block has decided yet.`, { transaction });

export const quarantined = (reason: string | undefined): Result<never, Failure> =>
  fail("token_quarantined", "The token is quarantined: its indexed facts are not verified against its root.", {
    reason: reason ?? null,
  });

/** Script hash of a token's contract version; the current one when there is no such token. */
export async function versionOf({ store, networkId }: TokenBuildOptions, token: string): Promise<string> {
  let found = await readToken(store.sql, token);
  if (found.status === "unknown") {
    found = (await atPoint(store, (sql) => readNewestToken(sql, token, networkId))).value.after;
  }
  return "state" in found ? scriptOf(found.state) : cageScript.hash;
}

/** Contract version of a state, by its script hash. */
function scriptOf(state: TokenState): string {
  const asset = [...state.utxo.output.value.assets.keys()].find((one) => nameOf(one) === state.token);
  if (asset === undefined) throw new Error(`the state output of ${state.token} does not hold the token`);
  return policyOf(asset);
}

/** Builds a transaction that needs only the token's state and is signed by its owner. */
export async function buildOnState(
  options: TokenBuildOptions,
  intent: TokenIntent,
  from: TokenPayer,
  { entity, deadline }: BuildContext,
  build: (input: BuildInput & { readonly state: Utxo }) => Promise<TokenBuild>,
): Promise<BuildAnswer> {
  const script = await versionOf(options, entity.id);
  const read = async (sql: Queries) =>
    stateFor(intent, await readNewestToken(sql, entity.id, options.networkId), entity.id);
  return await reservedBuild(options, { from, deadline, script }, read, async (common, state) => {
    if (!state.ok) return state;
    if (keyAddress(from.address)?.payment !== state.value.owner) return NOT_OWNER;
    return await build({ ...common, state: state.value.utxo });
  });
}
