/** Helpers shared by `commonRules.ts` and `intentRules.ts`. */
import type { Summary, SummaryAmount, SummaryInput } from "#src/contract/summary/schema.ts";
import type { Reason } from "#src/contract/summary/intent.ts";
import { parseAddress, paymentKeyHash } from "#src/cardano/address.ts";

/** Default limits in lovelace. */
export const DEFAULT_MAX_FEE = 3_000_000n;
export const DEFAULT_MAX_LOCKED = 10_000_000n;
export const DEFAULT_MAX_OFFERED = 1_000_000n;

/** An output that the transaction makes. */
export type Pay = Summary["pays"][number];

/** A reason if the condition is false, otherwise none. */
export function check(holds: boolean, code: string, message: string): Reason[] {
  return holds ? [] : [{ code, message }];
}

/** Whether an output is only a value at an address. */
export const isPlain = ({ datum, datumHash, script }: Pick<Pay, "datum" | "datumHash" | "script">) =>
  datum === null && datumHash === null && script === null;
/** Whether an amount is only lovelace. */
export const holdsNothingElse = (amount: SummaryAmount) => Object.keys(amount.assets).length === 0;
/** Whether an input is known to be at the requester's address. */
export const isWallet = ({ output }: SummaryInput) => output !== null && output.whose === "requester";

/** Hash of the payment key of an address in its text form; undefined where it has none. */
export function addressKey(text: string): string | undefined {
  const read = parseAddress(text);
  return read.ok ? paymentKeyHash(read.value.hex) : undefined;
}

/** An owner's payment key hash, given as an address or as the hash itself. */
export function ownerOf(to: string): string | undefined {
  return /^[0-9a-f]{56}$/.test(to) ? to : addressKey(to);
}
