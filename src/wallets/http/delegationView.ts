/** Delegations as the API shows them. */
import type { z } from "zod";
import type { Delegated, Shown } from "#machines/delegation.ts";
import type { delegation } from "#src/wallets/api/delegation.ts";
import { fromHex } from "#src/base/bytes.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { parseDrepKey } from "#src/cardano/drepText.ts";
import type { Epochs } from "#src/cardano/epochs.ts";
import { epochStartView } from "#src/wallets/http/times.ts";

/** A pool's id as people write it. */
export const poolText = (hex: string): string => toBech32("pool", fromHex(hex));

function whom({ pool, drep }: Delegated) {
  const target = pool === null ? {} : { target: poolText(pool) };
  if (drep === null) return { status: pool === null ? "not_delegating" as const : "delegating" as const, ...target };
  const status = pool === null ? "voting" as const : "delegating_and_voting" as const;
  return { status, ...target, voting: drepId(parseDrepKey(drep)) };
}

/** The delegation of this epoch and of the next ones. */
export function delegationView({ active, next }: Shown, epochs: Epochs): z.infer<typeof delegation> {
  return {
    active: whom(active),
    next: next.map((one) => ({ ...whom(one), changes_at: epochStartView(epochs, one.from) })),
  };
}

/** The delegation of a wallet without a stake key, or without a certificate. */
export const NO_DELEGATION: z.infer<typeof delegation> = { active: { status: "not_delegating" }, next: [] };
