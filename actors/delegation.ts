/** Stake credentials, by `key-<hash>` or `script-<hash>`: an actor hears what the chain says of one; what no block says is asked for. */
import { z } from "zod";
import { delegationInputs, delegationMachine } from "#machines/delegation.ts";
import { currentMembers } from "#src/chain/index/groups.ts";
import { type Inquiry, inquiry } from "#src/chain/index/networkQueries.ts";
import type { StakeAccount } from "#src/chain/provider/ledgerPort.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import type { Queries } from "#src/store/store.ts";
import type { EpochOf } from "#src/wallet/delegation/projection.ts";
import { accountsToQuery, writeRewards } from "#src/wallet/delegation/rewards.ts";
import { WALLET_PROJECTION } from "#src/wallet/index/types.ts";

/** The kind; an entity's id is the credential. */
export function delegationActor(): ActorKind {
  return {
    kind: "delegation",
    version: 1,
    machine: delegationMachine,
    commands: z.never(),
    inputs: delegationInputs,
    outcomes: z.never(),
  };
}

/** What the follower asks of the network for wallets' rewards. */
export function rewardsInquiry(epochOf: EpochOf): Inquiry {
  const current = (sql: Queries) => currentMembers(sql, WALLET_PROJECTION);
  return inquiry<readonly StakeAccount[]>("rewards", async (sql, at) => {
    const credentials = await accountsToQuery(sql, epochOf(at.slot), current);
    if (credentials.length === 0) return undefined;
    return {
      ask: (port) => port.accounts(credentials),
      write: (sql, answer, blocks) => writeRewards(sql, answer, blocks, { epochOf, current }),
    };
  });
}
