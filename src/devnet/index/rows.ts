/** Rows of the index of the chain (`devnet_index_*`), with the names of their columns. */
import type { Json } from "#src/base/json.ts";
import type { Action, Vote, Voter } from "#src/cardano/conway/governance.ts";

/** The transaction that a row comes from: the height of its block (-1: the genesis) and its position in it. */
export interface TransactionPlace {
  readonly height: number;
  readonly tx_index: number;
  readonly tx_hash: string;
}

/** An output that a transaction spends. */
export interface SpentRow {
  readonly tx_hash: string;
  readonly index: number;
  readonly spent_height: number;
  readonly spent_index: number;
  readonly spent_tx: string;
}

/** A part of a certificate that took effect. */
export interface CertificateRow extends TransactionPlace {
  readonly cert_index: number;
  readonly part: number;
  readonly kind:
    | "register"
    | "deregister"
    | "delegate"
    | "vote"
    | "pool"
    | "retire"
    | "drep_register"
    | "drep_update"
    | "drep_deregister"
    | "committee_authorize";
  readonly credential?: string;
  readonly pool?: string;
  /** A representative; of `committee_authorize` the cold credential of the member. */
  readonly drep?: string;
  readonly epoch?: number;
  readonly deposit?: bigint;
  readonly cbor: Uint8Array;
}

/** A proposal of a governance action. */
export interface ProposalRow extends TransactionPlace {
  /** Its place among the proposals of the transaction. */
  readonly index: number;
  readonly kind: Action["kind"];
  /** Epoch in which it was made. */
  readonly epoch: number;
  readonly cbor: Uint8Array;
}

/** A vote on a governance action. */
export interface VoteRow extends TransactionPlace {
  /** Its place among the votes of the transaction. */
  readonly vote_index: number;
  readonly role: Voter["role"];
  /** Key of the voter's credential. */
  readonly voter: string;
  readonly action_tx: string;
  readonly action_index: number;
  readonly vote: Vote["vote"];
  readonly url?: string;
  readonly url_hash?: string;
}

/** Rows to insert, by table without `devnet_index_`. Columns that are left out are null. */
export interface IndexRows {
  readonly block: {
    readonly height: number;
    readonly epoch: number;
    readonly size: number;
    readonly output?: bigint;
    readonly fees?: bigint;
    readonly pool?: string;
  }[];
  readonly tx: {
    readonly height: number;
    readonly tx_index: number;
    readonly hash: string;
    readonly fee: bigint;
    readonly deposit: bigint;
    readonly size: number;
    readonly valid: boolean;
    readonly cbor: Uint8Array;
  }[];
  readonly output: (TransactionPlace & {
    readonly index: number;
    readonly address: string;
    readonly payment?: string;
    readonly stake?: string;
    readonly lovelace: bigint;
    readonly datum_hash?: string;
    readonly datum?: Uint8Array;
    readonly script_hash?: string;
  })[];
  readonly asset: {
    readonly tx_hash: string;
    readonly index: number;
    readonly unit: string;
    readonly quantity: bigint;
    readonly height: number;
  }[];
  readonly address:
    (TransactionPlace & { readonly address: string; readonly payment?: string; readonly stake?: string })[];
  readonly asset_tx: (TransactionPlace & { readonly unit: string })[];
  readonly mint:
    (TransactionPlace & { readonly unit: string; readonly quantity: bigint; readonly fingerprint: string })[];
  readonly metadata: (TransactionPlace & { readonly label: bigint; readonly cbor: Uint8Array })[];
  readonly script: {
    readonly hash: string;
    readonly height: number;
    readonly tx_index: number;
    readonly kind: ScriptKind;
    readonly bytes: Uint8Array;
  }[];
  readonly datum: { readonly hash: string; readonly height: number; readonly cbor: Uint8Array }[];
  readonly redeemer: (TransactionPlace & {
    readonly purpose: string;
    readonly index: number;
    readonly script_hash: string;
    readonly data_hash: string;
    readonly memory: bigint;
    readonly steps: bigint;
    readonly fee: bigint;
  })[];
  readonly certificate: CertificateRow[];
  readonly proposal: ProposalRow[];
  readonly vote: VoteRow[];
  readonly outcome: {
    readonly height: number;
    readonly action_tx: string;
    readonly action_index: number;
    readonly outcome: "ratified" | "enacted" | "expired" | "dropped";
    /** The epoch that began. */
    readonly epoch: number;
  }[];
  readonly withdrawal: (TransactionPlace & { readonly credential: string; readonly amount: bigint })[];
  readonly epoch: {
    readonly epoch: number;
    readonly height: number;
    readonly parameters: Json;
    readonly pots: Json;
    readonly active_stake?: bigint;
  }[];
  readonly stake: {
    readonly epoch: number;
    readonly pool: string;
    readonly credential: string;
    readonly lovelace: bigint;
    readonly height: number;
  }[];
  readonly reward: {
    readonly earned: number;
    readonly spendable: number;
    readonly credential: string;
    readonly pool: string;
    readonly kind: "leader" | "member" | "pool_deposit_refund";
    readonly amount: bigint;
    readonly paid: boolean;
    readonly height: number;
  }[];
}

/** Blockfrost's names of script languages, by the language's number in the ledger. */
export const SCRIPT_KINDS = ["timelock", "plutusV1", "plutusV2", "plutusV3"] as const;
export type ScriptKind = typeof SCRIPT_KINDS[number];

/** What a block, or the genesis, adds to the index. */
export interface IndexChanges {
  readonly rows: IndexRows;
  /** In the order in which they are spent; outputs of `rows` among them. */
  readonly spent: SpentRow[];
}

/** No change. */
export function noChanges(): IndexChanges {
  const rows: IndexRows = {
    block: [],
    tx: [],
    output: [],
    asset: [],
    address: [],
    asset_tx: [],
    mint: [],
    metadata: [],
    script: [],
    datum: [],
    redeemer: [],
    certificate: [],
    proposal: [],
    vote: [],
    outcome: [],
    withdrawal: [],
    epoch: [],
    stake: [],
    reward: [],
  };
  return { rows, spent: [] };
}
