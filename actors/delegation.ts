/**
 * Actors of stake credentials. Their state comes from blocks; rewards, which no block contains, are queried from the
 * network.
 */
import { z } from "zod";
import { delegationContent, delegationInputs, delegationMachine } from "#machines/delegation.ts";
import { currentMembers } from "#src/chain/index/groups.ts";
import { type NetworkQuery, networkQuery } from "#src/chain/index/networkQueries.ts";
import type { StakeAccount } from "#src/chain/provider/ledgerPort.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import type { Queries } from "#src/store/store.ts";
import type { EpochOf } from "#src/wallets/delegation/projection.ts";
import { accountsToQuery, writeRewards } from "#src/wallets/delegation/rewards.ts";
import { WALLET_PROJECTION } from "#src/wallets/index/types.ts";

/** The actor kind of stake credentials; an entity's id is `key-<hash>` or `script-<hash>`. */
export function delegationActor(): ActorKind {
  return {
    kind: "delegation",
    ids: /^(key|script)-[0-9a-f]{56}$/,
    version: 1,
    machine: delegationMachine,
    commands: z.never(),
    inputs: delegationInputs,
    outcomes: z.never(),
    content: { schemas: delegationContent, guarded: true },
  };
}

/** The indexer's query for the rewards of wallets. */
export function rewardsInquiry(epochOf: EpochOf): NetworkQuery {
  const current = (sql: Queries) => currentMembers(sql, WALLET_PROJECTION);
  return networkQuery<readonly StakeAccount[]>("rewards", async (sql, at) => {
    const credentials = await accountsToQuery(sql, epochOf(at.slot), current);
    if (credentials.length === 0) return undefined;
    return {
      run: (port) => port.accounts(credentials),
      write: (sql, answer, blocks) => writeRewards(sql, answer, blocks, { epochOf, current }),
    };
  });
}
