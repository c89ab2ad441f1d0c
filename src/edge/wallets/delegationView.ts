/** Delegations as the API shows them. */
import type { z } from "zod";
import type { Delegated, Shown } from "#machines/delegation.ts";
import type { delegation } from "#src/api/wallets/delegation.ts";
import { fromHex } from "#src/base/bytes.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { parseDrepKey } from "#src/cardano/drepText.ts";
import type { Epochs } from "#src/cardano/epochs.ts";
import { epochView } from "#src/edge/wallets/times.ts";

/** A pool's id as people write it. */
export const poolText = (hex: string): string => toBech32("pool", fromHex(hex));

function whom({ pool, drep }: Delegated) {
  const status = pool === null
    ? (drep === null ? "not_delegating" as const : "voting" as const)
    : drep === null
    ? "delegating" as const
    : "delegating_and_voting" as const;
  return {
    status,
    ...(pool === null ? {} : { target: poolText(pool) }),
    ...(drep === null ? {} : { voting: drepId(parseDrepKey(drep)) }),
  };
}

/** The delegation of this epoch and of the next ones. */
export function delegationView({ active, next }: Shown, epochs: Epochs): z.infer<typeof delegation> {
  return {
    active: whom(active),
    next: next.map((one) => ({
      ...whom(one),
      changes_at: epochView({ epoch: one.from, time: epochs.time(epochs.first(one.from)) }),
    })),
  };
}

/** The delegation of a wallet without a stake key, or without a certificate. */
export const NO_DELEGATION: z.infer<typeof delegation> = { active: { status: "not_delegating" }, next: [] };
