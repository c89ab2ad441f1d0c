/** What the rules about transactions have in common. */
import type { Summary, SummaryAmount, SummaryInput } from "#src/api/summary.ts";
import type { Reason } from "#src/cage/summary/intent.ts";
import { addressKey } from "#src/cage/summary/keys.ts";

/** Bounds in lovelace where an intent gives none. */
export const MOST_FEE = 3_000_000n;
export const MOST_LOCKED = 10_000_000n;
export const MOST_OFFERED = 1_000_000n;

/** An output that is made. */
export type Pay = Summary["pays"][number];

/** A reason where something does not hold. */
export function unless(holds: boolean, code: string, message: string): Reason[] {
  return holds ? [] : [{ code, message }];
}

/** Whether an output is nothing but a value at an address. */
export const isPlain = ({ datum, datumHash, script }: Pick<Pay, "datum" | "datumHash" | "script">) =>
  datum === null && datumHash === null && script === null;
/** Whether there are no assets beside lovelace. */
export const holdsNothingElse = (amount: SummaryAmount) => Object.keys(amount.assets).length === 0;
/** Whether an input is known to be of the requester's address. */
export const isWallet = ({ output }: SummaryInput) => output !== null && output.whose === "requester";

/** Hash of the key that an owner is given by: his address, or the hash itself. */
export function ownerOf(to: string): string | undefined {
  return /^[0-9a-f]{56}$/.test(to) ? to : addressKey(to);
}
