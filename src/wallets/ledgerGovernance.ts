/** What builds need of the ledger's governance: the wallet's representative, and the actions that it votes on. */
import { onlyOf } from "#src/base/present.ts";
import { type Failure, ok, type Result } from "#src/base/result.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { ConstructInput, OwnDrep, PaymentIntent } from "#src/wallets/builds/types.ts";

/** What the ledger has of the wallet's representative and of the actions that an intent votes on. */
export interface LedgerGovernance {
  readonly drep?: OwnDrep | undefined;
  readonly actions?: ConstructInput["actions"];
}

/**
 * The governance facts of an intent, at the tip. What the provider does not report stays undefined: the ledger decides
 * when the transaction is submitted.
 */
export async function governanceOf(
  port: ChainPort,
  { governance }: PaymentIntent,
  drep: Pick<OwnDrep, "hash" | "path"> | undefined,
): Promise<Result<LedgerGovernance, Failure>> {
  if (!governance || !drep) return ok({ drep });
  const votes = governance.votes ?? [];
  const [states, actions] = await Promise.all([
    port.drepStatus([{ kind: "key", hash: drep.hash }]),
    votes.length === 0 ? undefined : port.actions(votes.map(({ action }) => action)),
  ]);
  if (!states.ok && states.error.code !== "query_unsupported") return states;
  if (actions && !actions.ok && actions.error.code !== "query_unsupported") return actions;
  const state = states.ok ? onlyOf(states.value.value) : undefined;
  return ok({
    drep: { ...drep, registered: state?.registered, deposit: state?.deposit },
    ...(actions?.ok ? { actions: actions.value.value } : {}),
  });
}
