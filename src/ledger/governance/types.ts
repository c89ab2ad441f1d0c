/** What the state holds of governance. Actions go by `transaction#index`. */
import type { Anchor } from "#src/cardano/certificates.ts";
import type { Ratio } from "#src/cardano/parameters.ts";

/** An action that is voted on. */
export interface Proposed {
  /** CBOR of the proposal; `proposalOf` reads it. */
  readonly cbor: Uint8Array;
  /** Its place among all that were ever proposed. */
  readonly order: number;
  /** The epoch in which it was proposed. */
  readonly proposedIn: number;
  /** The last epoch in which it is voted on. */
  readonly expiresAfter: number;
}

/** Actions of one purpose follow each other: each names the last one that was enacted, or one that is voted on. */
export const PURPOSES = ["parameters", "hard fork", "committee", "constitution"] as const;
export type Purpose = typeof PURPOSES[number];

/** What is in force, and what is decided at the next boundary. */
export interface Governance {
  /** The guardrails script has to agree to changes of parameters and payments from the treasury. */
  readonly constitution: { readonly anchor: Anchor; readonly script?: string | undefined };
  /** The share of the committee that has to agree; undefined after a motion of no confidence. */
  readonly quorum?: Ratio | undefined;
  /** The last enacted action of each purpose. */
  readonly enacted: Readonly<Partial<Record<Purpose, string>>>;
  /** Epochs without an action to vote on, which extend the activity of representatives. */
  readonly dormant: number;
  /** The place of the next action. */
  readonly next: number;
  /** Actions that take force at the next boundary, in this order, and those that end there (ledger: `RatifyState`). */
  readonly decided: { readonly enacted: readonly string[]; readonly expired: readonly string[] };
}
