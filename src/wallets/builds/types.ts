/**
 * Inputs and results of the builds of a wallet's transactions: plain values, which cross threads and the bus unchanged.
 * Amounts are lovelace; addresses and hashes are hexadecimal. Assets are pairs, so that a payment intent is JSON.
 */
import type { Failure } from "#src/base/result.ts";
import type { Credential, NetworkId } from "#src/cardano/address.ts";
import type { Anchor, Certificate, DRep } from "#src/cardano/certificates.ts";
import type { ActionId, Proposal, Vote, Voter } from "#src/cardano/conway/governance.ts";
import type { OutRef, Utxo } from "#src/cardano/output.ts";
import type { Parameters, SlotConfig } from "#src/cardano/parameters.ts";
import type { AssetId } from "#src/cardano/value.ts";
import type { Coin } from "#src/transaction/coinPool.ts";
import type { SelectionStrategy } from "#src/transaction/feeBalance.ts";
import type { Path } from "#src/cardano/keys/types.ts";

/** Quantities by asset, as pairs. */
type AssetList = readonly (readonly [asset: AssetId, quantity: bigint])[];

/** Lovelace and assets at an address (its bytes). */
export interface Payment {
  readonly address: string;
  /** 0 means the least that such an output must hold. */
  readonly lovelace: bigint;
  readonly assets?: AssetList | undefined;
}

/** A script template as the API has it: `cosigner#0` stands for the wallet's policy key. */
export type PolicyTemplate =
  | string
  | { readonly all: readonly PolicyTemplate[] }
  | { readonly any: readonly PolicyTemplate[] }
  | { readonly some: { readonly at_least: number; readonly from: readonly PolicyTemplate[] } }
  | { readonly active_from: number | bigint }
  | { readonly active_until: number | bigint };

/**
 * An asset minted or burned. Its script names the wallet's policy key, or is in an output that the transaction refers
 * to.
 */
export interface MintBurn {
  readonly policy:
    | { readonly template: PolicyTemplate }
    | { readonly id: string; readonly reference: OutRef };
  /** Asset name. */
  readonly name: string;
  /** Positive, for burning too. */
  readonly quantity: bigint;
  readonly operation: "mint" | "burn";
  /** Address that gets the minted assets; the wallet's change by default. */
  readonly to?: string | undefined;
}

/**
 * Delegation to a pool (its id), or its end. Stake key 0 is the only one, whatever the wallet's account index is:
 * another index gives `created_multiaccount_transaction`.
 */
interface DelegationIntent {
  readonly pool?: string | undefined;
  readonly index: number;
}

/** What a wallet does with its own DRep key. */
export interface GovernanceIntent {
  /** Registers it as a representative with metadata, replaces the metadata, or ends the registration. */
  readonly drep?:
    | { readonly does: "register" | "update" | "deregister"; readonly anchor?: Anchor | undefined }
    | undefined;
  /** Its votes, at most one on each action. */
  readonly votes?: readonly Vote[] | undefined;
}

/** A bound of the validity interval: a slot, or seconds from now. */
export interface ValidityBound {
  readonly quantity: bigint;
  readonly unit: "slot" | "second";
}

/** What a transaction must do; all parts combine. */
export interface PaymentIntent {
  readonly payments?: readonly Payment[] | undefined;
  /** CBOR of the metadata map, in hexadecimal (`encodeMetadata`); already encrypted where the request says so. */
  readonly metadata?: string | undefined;
  readonly mintBurn?: readonly MintBurn[] | undefined;
  readonly delegations?: readonly DelegationIntent[] | undefined;
  readonly vote?: DRep | undefined;
  readonly governance?: GovernanceIntent | undefined;
  /** Withdraws all rewards of the account, or of a foreign stake key (its hash), whose owner signs as well. */
  readonly withdrawal?: "self" | { readonly stakeKey: string } | undefined;
  /** By default from slot 0 to two hours from now. */
  readonly validity?:
    | { readonly from?: ValidityBound | undefined; readonly before?: ValidityBound | undefined }
    | undefined;
  /** Script that the first output carries as a reference script. */
  readonly referencePolicy?: PolicyTemplate | undefined;
  readonly coins?: CoinControl | undefined;
  /** Where all change goes; an address that is not the wallet's only where `foreign` says so. */
  readonly changeTo?: { readonly address: string; readonly foreign: boolean } | undefined;
}

/** Which outputs a transaction spends, chosen by its author. */
export interface CoinControl {
  /** The wallet's unspent outputs that it must spend. */
  readonly spend: readonly OutRef[];
  /** Whether it spends no others. */
  readonly only: boolean;
  readonly avoid: readonly OutRef[];
}

/** An unspent output of the wallet. */
export interface OwnCoin extends Coin {
  readonly path: Path;
}

/** An address of the wallet. */
export interface OwnAddress {
  /** Its bytes. */
  readonly address: string;
  readonly path: Path;
}

/** The wallet's stake account. */
export interface StakeAccount {
  readonly credential: Credential;
  readonly path: Path;
  readonly registered: boolean;
  /** Lovelace, paid at its registration. */
  readonly deposit: bigint;
  /** Lovelace that can be withdrawn. */
  readonly rewards: bigint;
  readonly pool?: string | undefined;
  readonly drep?: DRep | undefined;
}

/** The wallet's DRep key, and what the ledger has of its representative. */
export interface OwnDrep {
  /** Hash of the key. */
  readonly hash: string;
  readonly path: Path;
  /** Undefined where the provider does not report representatives. */
  readonly registered?: boolean | undefined;
  /** Lovelace that was paid for the registration, where it is known. */
  readonly deposit?: bigint | undefined;
}

/** What the wallet can use, at the point of the chain at which the transaction is built. */
export interface WalletFunds {
  readonly coins: readonly OwnCoin[];
  /** Addresses of change outputs, in this order: at least one; the last one takes the rest. */
  readonly change: readonly OwnAddress[];
  /** Absent where the wallet has no stake account. */
  readonly account?: StakeAccount | undefined;
  /** Absent where the wallet has no DRep key. */
  readonly drep?: OwnDrep | undefined;
  /** Hash of the policy key, where it is set. */
  readonly policyKey?: string | undefined;
  /** Shared wallets: CBOR of the native scripts of the addresses of `coins` and of the account. */
  readonly scripts?: readonly Uint8Array[] | undefined;
  /** How inputs are chosen; `per-output` by default. */
  readonly selection?: Exclude<SelectionStrategy, "by-priority"> | undefined;
}

/** The network and the time at which a transaction is built. */
export interface BuildSetting {
  readonly parameters: Parameters;
  readonly network: NetworkId;
  readonly slots: SlotConfig;
  /** The present slot. */
  readonly slot: number;
  /** First slot of the next epoch, where known. A withdrawal is not valid from it on, because the rewards change. */
  readonly boundary?: number | undefined;
}

/** Jobs `construct` and `fees`. */
export interface ConstructInput extends BuildSetting {
  readonly intent: PaymentIntent;
  readonly funds: WalletFunds;
  /** Outputs with the scripts that `MintBurn` refers to. */
  readonly references?: readonly Utxo[] | undefined;
  /** The actions that the intent votes on, in its order, where the provider reports them. */
  readonly actions?: readonly VotableAction[] | undefined;
  /** The foreign stake account whose rewards the intent withdraws. */
  readonly redeemed?: StakeAccount | undefined;
  /** Makes the choice of inputs repeatable; random by default. */
  readonly seed?: number | undefined;
}

/** Whether an action can be voted on; `unknown` if the chain has none with the id. */
interface VotableAction {
  readonly id: ActionId;
  readonly state: "open" | "ended" | "unknown";
}

/** Job `migrate`: moves all `funds.coins` to `funds.change`, which need not be the wallet's addresses. */
export interface MigrateInput extends BuildSetting {
  readonly funds: WalletFunds;
}

/** Job `consolidate`: merges the coins with less than `below` lovelace into outputs at `funds.change`. */
export interface ConsolidateInput extends MigrateInput {
  readonly below: bigint;
  /** Most transactions. */
  readonly most: number;
}

/** A part of the plan of a wallet migration: all its transactions may not fit into one message. */
export interface MigrationPart {
  /** CBOR of each, without signatures. */
  readonly transactions: readonly Uint8Array[];
  readonly parts: number;
  /** Identifies the plan; the same for all its parts. */
  readonly plan: string;
  /** Slot in which the plan was made. Requests for its other parts state it. */
  readonly slot: number;
}

/** An input or collateral input. The path is empty for a foreign input of a partial transaction. */
export interface ChosenCoin {
  readonly ref: OutRef;
  readonly address: string;
  readonly lovelace: bigint;
  readonly assets: AssetList;
  readonly path: Path;
}

/** An output of a coin selection. */
export interface ShownOutput {
  readonly address: string;
  readonly lovelace: bigint;
  readonly assets: AssetList;
}

/** Inputs and outputs of a transaction, as the API's coin selection has them. */
export interface CoinSelection {
  readonly inputs: readonly ChosenCoin[];
  readonly outputs: readonly ShownOutput[];
  readonly change: readonly (ShownOutput & { readonly path: Path })[];
  readonly collateral: readonly ChosenCoin[];
  /** `account` is the reward address. */
  readonly withdrawals: readonly { readonly account: string; readonly path: Path; readonly lovelace: bigint }[];
  readonly certificates: readonly BuiltCertificate[];
  /** Votes of the wallet's DRep key. */
  readonly votes?: readonly DecodedVoter[];
  readonly depositsTaken: readonly bigint[];
  readonly depositsReturned: readonly bigint[];
  /** CBOR of the metadata map, in hexadecimal. */
  readonly metadata?: string;
}

/** A certificate of an account, in the API's terms. */
export interface ShownCertificate {
  readonly type: "join_pool" | "quit_pool" | "register_reward_account" | "cast_vote";
  readonly pool?: string;
  readonly drep?: DRep;
  /** Path of the account, where it is the wallet's. */
  readonly path?: Path;
  /** Reward address of the account. */
  readonly account: string;
}

/** A certificate of a representative or of a member of the committee. */
export type GovernanceCertificate = Extract<
  Certificate,
  { kind: "register drep" | "update drep" | "unregister drep" | "authorize" | "resign" }
>;

/** A certificate that the wallet's own build makes. */
export type BuiltCertificate =
  | ShownCertificate
  | {
    readonly type: "governance";
    readonly certificate: GovernanceCertificate;
    /** Path of the DRep key, where that is the wallet's. */
    readonly path?: Path;
  };

/** Votes of a voter; with a path where it is the wallet's DRep key. */
export type DecodedVoter = Voter & { readonly path?: Path };

/** What a transaction proposes. */
export interface DecodedProposal extends Pick<Proposal, "deposit" | "anchor"> {
  readonly id: ActionId;
  readonly kind: Proposal["action"]["kind"];
  /** The account that the deposit returns to: its reward address. */
  readonly account: string;
  /** Path of that account, where it is the wallet's. */
  readonly path?: Path;
}

/** A transaction to be signed. */
export interface ConstructedTransaction {
  /** CBOR, without the wallet's signatures. */
  readonly transaction: Uint8Array;
  readonly txHash: string;
  readonly fee: bigint;
  /** First slot in which it is no longer valid. */
  readonly validTo?: number;
  /** Bytes once signed. */
  readonly size: number;
  readonly selection: CoinSelection;
  /** Own outputs that it spends or uses as collateral: the build reserves them. */
  readonly spends: readonly OutRef[];
}

/** Fee estimate of `payment-fees` and `delegation-fees`, in lovelace. */
export interface FeeEstimate {
  readonly least: bigint;
  readonly most: bigint;
  /** Least lovelace of each payment's output. */
  readonly minimums: readonly bigint[];
  readonly deposit: bigint;
}

/** An argument for a Plutus script of a transaction to be balanced; `data` is CBOR. */
export type GivenRedeemer =
  & { readonly data: Uint8Array }
  & (
    | { readonly purpose: "spending"; readonly ref: OutRef }
    | { readonly purpose: "minting"; readonly policy: string }
    /** `account` is the reward address. */
    | { readonly purpose: "rewarding"; readonly account: string }
  );

/** Job `balance`: adds inputs, change, collateral, units and fee to a partial transaction. */
export interface BalanceInput extends BuildSetting {
  /** CBOR, with or without witnesses. Its fee is replaced. */
  readonly transaction: Uint8Array;
  /** Outputs behind inputs and reference inputs that are not the wallet's. */
  readonly inputs: readonly Utxo[];
  readonly redeemers: readonly GivenRedeemer[];
  readonly funds: WalletFunds;
  /** Deposits of credentials that it unregisters without stating a refund, by `key-<hash>` or `script-<hash>`. */
  readonly deposits?: ReadonlyMap<string, bigint> | undefined;
  /** Pools that it registers and that are registered already: they pay no second deposit. */
  readonly pools?: readonly string[] | undefined;
  readonly seed?: number | undefined;
}

/** What belongs to the wallet, for decoding: only what the transaction refers to (`lookupsOf`) is needed. */
interface WalletOwnership {
  readonly addresses: readonly OwnAddress[];
  /** Outputs of the wallet, spent ones too where known. */
  readonly coins: readonly OwnCoin[];
  readonly account?: { readonly credential: Credential; readonly path: Path } | undefined;
  readonly drep?: Pick<OwnDrep, "hash" | "path"> | undefined;
  /** Hash of the policy key. */
  readonly policyKey?: string | undefined;
}

/** Job `decode`. */
export interface DecodeInput {
  readonly transaction: Uint8Array;
  readonly network: NetworkId;
  /** Deposit, in lovelace, of a registration that states none. */
  readonly keyDeposit: bigint;
  readonly owns: WalletOwnership;
  /** Refunds of credentials that are unregistered without a stated one, by reward address; `keyDeposit` by default. */
  readonly deposits?: ReadonlyMap<string, bigint> | undefined;
  /** Outputs behind the reference inputs, where known: their scripts are shown. */
  readonly references?: readonly Utxo[] | undefined;
}

/** What must be looked up before a transaction is decoded or balanced. */
export interface TransactionLookups {
  readonly inputs: readonly OutRef[];
  readonly collateral: readonly OutRef[];
  readonly references: readonly OutRef[];
  /** Addresses of its outputs. */
  readonly addresses: readonly string[];
  /** Pools that it registers, some perhaps for the second time. */
  readonly pools: readonly string[];
}

/** An input; its value is known where it is the wallet's. */
export interface DecodedInput {
  readonly ref: OutRef;
  readonly own?: ShownOutput & { readonly path: Path };
}

/** An output; with a path where it is the wallet's. */
export type DecodedOutput = ShownOutput & { readonly path?: Path | undefined };

/** A script of a transaction. `native` is CBOR in hexadecimal. */
export type DecodedScript =
  | { readonly kind: "native"; readonly native: string; readonly reference?: OutRef }
  | { readonly kind: "plutus"; readonly language: 1 | 2 | 3; readonly hash: string; readonly reference?: OutRef }
  /** The script is in one of these outputs, which are not known. */
  | { readonly kind: "reference"; readonly hash: string; readonly references: readonly OutRef[] };

/** Assets minted or burned under one policy; quantities are positive. */
export interface DecodedPolicy {
  readonly policy: string;
  readonly script?: DecodedScript;
  readonly assets: readonly { readonly name: string; readonly quantity: bigint; readonly fingerprint: string }[];
}

/** A certificate: those of accounts in the API's terms, all others as the chain has them. */
export type DecodedCertificate =
  | BuiltCertificate
  | { readonly type: "other"; readonly certificate: Exclude<Certificate, GovernanceCertificate> };

/** All parts of a transaction. */
export interface DecodedTransaction {
  readonly id: string;
  readonly fee: bigint;
  readonly inputs: readonly DecodedInput[];
  readonly outputs: readonly DecodedOutput[];
  readonly collateral: readonly DecodedInput[];
  readonly collateralOutputs: readonly DecodedOutput[];
  readonly withdrawals: readonly { readonly account: string; readonly lovelace: bigint; readonly path?: Path }[];
  readonly mint: readonly DecodedPolicy[];
  readonly burn: readonly DecodedPolicy[];
  /** Hash of the wallet's policy key, where a script of the transaction names it. */
  readonly policyKey?: string;
  readonly certificates: readonly DecodedCertificate[];
  readonly votes: readonly DecodedVoter[];
  readonly proposals: readonly DecodedProposal[];
  readonly depositsTaken: readonly bigint[];
  readonly depositsReturned: readonly bigint[];
  /** CBOR of the metadata map, in hexadecimal. */
  readonly metadata?: string;
  /** Absent in Byron, whose transactions have no scripts. */
  readonly scriptValidity?: "valid" | "invalid";
  readonly validity: { readonly from?: bigint; readonly before?: bigint };
  /** Hash over redeemers, datums and cost models. */
  readonly scriptIntegrity?: string;
  /** Key hashes that must sign. */
  readonly extraSigners: readonly string[];
  readonly witnesses: {
    readonly keys: number;
    readonly bootstrap: number;
    readonly scripts: readonly DecodedScript[];
  };
}

/**
 * Why inputs, change and fee cannot be found. `details` is the `info` of the API's error where cardano-wallet has one.
 */
export type SelectionFailure = Failure<
  | "not_enough_money"
  | "cannot_cover_fee"
  | "inputs_depleted"
  | "no_utxos_available"
  | "utxo_too_small"
  | "transaction_is_too_big"
  | "output_token_bundle_size_exceeds_limit"
  | "output_token_quantity_exceeds_limit"
  | "insufficient_collateral"
>;

/** Why an intent gives no transaction. */
export type ConstructFailure =
  | SelectionFailure
  | Failure<
    | "created_invalid_transaction"
    | "created_multidelegation_transaction"
    | "created_multiaccount_transaction"
    | "created_wrong_policy_script_template"
    | "asset_name_too_long"
    | "mint_or_burn_asset_quantity_out_of_bounds"
    | "invalid_validity_bounds"
    | "validity_interval_not_inside_script_timelock"
    | "missing_policy_public_key"
    | "withdrawal_not_possible_without_vote"
    | "withdrawal_not_beneficial"
    | "pool_already_joined"
    | "pool_already_joined_same_vote"
    | "same_vote"
    | "not_delegating_to"
    | "non_null_rewards"
    | "missing_reward_account"
    | "unresolved_inputs"
    | "inputs_not_available"
    | "invalid_wallet_type"
    | "drep_already_registered"
    | "drep_not_registered"
    | "no_such_action"
    | "action_expired"
  >;

/** Why a partial transaction cannot be balanced. */
export type BalanceTxFailure =
  | SelectionFailure
  | Failure<
    | "bad_request"
    | "unresolved_inputs"
    | "input_resolution_conflicts"
    | "redeemer_script_failure"
    | "redeemer_target_not_found"
    | "redeemer_invalid_data"
    | "balance_tx_conflicting_networks"
    | "balance_tx_existing_collateral"
    | "balance_tx_existing_key_witnesses"
    | "balance_tx_existing_return_collateral"
    | "balance_tx_existing_total_collateral"
  >;

/** Why there is nothing to migrate. */
export type MigrateFailure = Failure<"nothing_to_migrate" | "invalid_validity_bounds">;

/** Why bytes are not a transaction. */
export type DecodeFailure = Failure<"bad_request">;
