/**
 * A second model of Conway's governance, for tests: slow, plain, and apart from `src/ledger`. It is written from CIP-1694 and
 * from the Conway ledger specification (rules CERTS, GOV, EPOCH, RATIFY, ENACT), and shares no code or data with the first.
 *
 * Credentials are `k` or `s` (key or script) and a hash; pools and transactions are hashes; an action is `transaction#index`.
 * Amounts are lovelace.
 */

/** A fraction: above and below. */
export type Ratio = readonly [bigint, bigint];

/** A parameter's value, as the grammar has it. */
export type Value = bigint | Ratio | readonly Ratio[];

/** Where a deposit returns to, or a payment goes to. */
export interface RewardAccount {
  readonly network: number;
  readonly credential: string;
}

export type Action =
  /** New values by the parameter's number in the grammar. */
  | {
    readonly kind: "parameters";
    readonly previous?: string;
    readonly changes: Map<number, Value>;
    readonly policy?: string;
  }
  | { readonly kind: "hard fork"; readonly previous?: string; readonly version: readonly [number, number] }
  | {
    readonly kind: "treasury";
    readonly payments: readonly { readonly account: RewardAccount; readonly lovelace: bigint }[];
    readonly policy?: string;
  }
  | { readonly kind: "no confidence"; readonly previous?: string }
  | {
    readonly kind: "committee";
    readonly previous?: string;
    readonly removed: readonly string[];
    /** The last epoch of each new member's term. */
    readonly added: Map<string, number>;
    readonly quorum: Ratio;
  }
  | { readonly kind: "constitution"; readonly previous?: string; readonly url: string; readonly script?: string }
  | { readonly kind: "info" };

export type Kind = Action["kind"];
export const KINDS: readonly Kind[] = [
  "parameters",
  "hard fork",
  "treasury",
  "no confidence",
  "committee",
  "constitution",
  "info",
];

/** Actions of one purpose form a chain: each names the one before it. */
export const PURPOSES = ["parameters", "hard fork", "committee", "constitution"] as const;
export type Purpose = typeof PURPOSES[number];

/** The purpose of an action; undefined for payments and information. */
export function purposeOf({ kind }: Action): Purpose | undefined {
  if (kind === "treasury" || kind === "info") return undefined;
  return kind === "no confidence" ? "committee" : kind;
}

/** The action that another one names as the one before it. */
export function previousOf(action: Action): string | undefined {
  return "previous" in action ? action.previous : undefined;
}

export type Role = "committee" | "drep" | "pool";
export type Vote = "yes" | "no" | "abstain";

/** A vote; a committee member votes by the hot credential. */
export interface Ballot {
  readonly role: Role;
  readonly voter: string;
  readonly action: string;
  readonly vote: Vote;
}

export interface ProposalDraft {
  readonly deposit: bigint;
  readonly account: RewardAccount;
  readonly action: Action;
}

/** Whom an account delegates to; a representative is a credential, `abstain` or `no confidence`. */
interface Delegation {
  readonly pool?: string;
  readonly drep?: string;
}

export type Certificate =
  | { readonly kind: "register"; readonly credential: string; readonly deposit: bigint }
  | { readonly kind: "unregister"; readonly credential: string; readonly refund: bigint }
  | ({ readonly kind: "delegate"; readonly credential: string } & Delegation)
  | { readonly kind: "register pool"; readonly pool: string; readonly account: string }
  | { readonly kind: "retire pool"; readonly pool: string; readonly epoch: number }
  | { readonly kind: "register drep"; readonly credential: string; readonly deposit: bigint; readonly url?: string }
  | { readonly kind: "unregister drep"; readonly credential: string; readonly refund: bigint }
  | { readonly kind: "update drep"; readonly credential: string; readonly url?: string }
  | { readonly kind: "authorize"; readonly cold: string; readonly hot: string }
  | { readonly kind: "resign"; readonly cold: string };

/** A transaction, as far as governance goes. */
export interface Operation {
  readonly certificates?: readonly Certificate[];
  readonly proposals?: readonly ProposalDraft[];
  readonly votes?: readonly Ballot[];
  /** Accounts whose whole balance is withdrawn. */
  readonly withdrawals?: readonly string[];
  /** By how much the outputs of an account grow; negative: they shrink. */
  readonly stake?: readonly { readonly credential: string; readonly lovelace: bigint }[];
  readonly donation?: bigint;
}

export interface PlainProposal extends ProposalDraft {
  readonly id: string;
  readonly proposedIn: number;
  /** The last epoch in which it is voted on. */
  readonly expiresAfter: number;
  /** By role and voter: `drep s01…`. */
  readonly votes: Map<string, Vote>;
}

/** The elected committee: the last epoch of each term, by cold credential, and the share that has to agree. */
export interface Committee {
  readonly members: Map<string, number>;
  readonly quorum: Ratio;
}

/** What an action that is carried out may change. */
export interface InForce {
  /** By number in the grammar. */
  parameters: Map<number, Value>;
  version: readonly [number, number];
  /** None after a motion of no confidence. */
  committee: Committee | undefined;
  constitution: { readonly url: string; readonly script?: string };
  /** The last enacted action of each purpose. */
  roots: Partial<Record<Purpose, string>>;
  treasury: bigint;
}

interface PlainPool {
  readonly deposit: bigint;
  readonly account: string;
  /** Another account from the next epoch on. */
  readonly nextAccount?: string;
  readonly retiring?: number;
}

interface PlainDRep {
  readonly deposit: bigint;
  expiry: number;
  url?: string | undefined;
  /** Accounts that have delegated to it in protocol version 9, some of which may have left it. */
  readonly delegators: Set<string>;
}

/** The ledger, as far as governance goes. */
export interface PlainState extends InForce {
  readonly network: number;
  /** No hard fork goes beyond this major version. */
  readonly newestMajor: number;
  epoch: number;
  accounts: Map<
    string,
    { readonly deposit: bigint; balance: bigint; pool?: string | undefined; drep?: string | undefined }
  >;
  /** Lovelace in outputs, by stake credential. */
  outputs: Map<string, bigint>;
  pools: Map<string, PlainPool>;
  dreps: Map<string, PlainDRep>;
  /** By cold credential: the hot one, or `resigned`. */
  hot: Map<string, string>;
  proposals: PlainProposal[];
  /** Epochs in which nothing was voted on, since the last proposal. */
  dormant: number;
  deposits: bigint;
  donations: bigint;
  /** Lovelace of fees, and the part of it that is shared out at the next boundary. */
  fees: bigint;
  feesDue: bigint;
  /** What the last boundary left, to be voted on: the outcome takes force at the next one. */
  poll: Poll | undefined;
}

/** All that the outcome of votes depends on, as of a boundary. */
export interface Poll extends Omit<PlainState, "poll"> {
  /** Stake of pools before retired ones were removed. */
  readonly poolStake: ReadonlyMap<string, bigint>;
}

/** A copy of a state; a poll never changes. */
export function copyOf({ poll, ...state }: PlainState): PlainState {
  return { ...structuredClone(state), poll };
}

/** Numbers of the parameters that governance reads, in the grammar. */
export const NUMBERS = {
  keyDeposit: 5,
  poolDeposit: 6,
  retirementBound: 7,
  treasuryGrowth: 11,
  poolThresholds: 25,
  drepThresholds: 26,
  committeeMinSize: 27,
  committeeMaxTerm: 28,
  lifetime: 29,
  actionDeposit: 30,
  drepDeposit: 31,
  drepActivity: 32,
} as const;

/** A parameter that is a whole number. */
export function whole({ parameters }: Pick<InForce, "parameters">, name: keyof typeof NUMBERS): bigint {
  const value = parameters.get(NUMBERS[name]);
  if (typeof value !== "bigint") throw new Error(`${name} is no whole number`);
  return value;
}
