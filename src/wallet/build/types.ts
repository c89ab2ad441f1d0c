/**
 * What builds of a wallet's transactions take and give: plain values, which cross threads and the bus as they are. Amounts are lovelace,
 * addresses and hashes hexadecimal; assets are pairs, so that all of a wish is JSON.
 */
import type { Failure } from "#src/base/result.ts";
import type { Credential, NetworkId } from "#src/cardano/address.ts";
import type { Certificate, DRep } from "#src/cardano/certificates.ts";
import type { OutRef, Utxo } from "#src/cardano/output.ts";
import type { Parameters, SlotConfig } from "#src/cardano/parameters.ts";
import type { AssetId } from "#src/cardano/value.ts";
import type { Coin } from "#src/transaction/coinPool.ts";
import type { Path } from "#src/wallet/keys/types.ts";

/** Quantities by asset, as pairs. */
export type AssetList = readonly (readonly [asset: AssetId, quantity: bigint])[];

/** Lovelace and assets at an address (its bytes). */
export interface Payment {
  readonly address: string;
  /** Nothing stands for the least that such an output must hold. */
  readonly lovelace: bigint;
  readonly assets?: AssetList | undefined;
}

/** A script as templates have it: `cosigner#0` is the wallet's policy key. The form of the wire. */
export type PolicyTemplate =
  | string
  | { readonly all: readonly PolicyTemplate[] }
  | { readonly any: readonly PolicyTemplate[] }
  | { readonly some: { readonly at_least: number; readonly from: readonly PolicyTemplate[] } }
  | { readonly active_from: number | bigint }
  | { readonly active_until: number | bigint };

/** An asset made or destroyed. The script is one of the wallet's policy key, or stands in an output that is referred to. */
export interface MintBurn {
  readonly policy:
    | { readonly template: PolicyTemplate }
    | { readonly id: string; readonly reference: OutRef };
  /** Name of the asset. */
  readonly name: string;
  /** Positive; burning takes it away. */
  readonly quantity: bigint;
  readonly operation: "mint" | "burn";
  /** Whom minted assets go to; the wallet's change unless said otherwise. */
  readonly to?: string | undefined;
}

/** To a pool (its id), or from any. Only the account with index 0 exists: another one is `created_multiaccount_transaction`. */
export interface DelegationWish {
  readonly pool?: string | undefined;
  readonly index: number;
}

/** A bound of the validity interval: a slot, or seconds from now. */
export interface Bound {
  readonly quantity: bigint;
  readonly unit: "slot" | "second";
}

/** What a transaction is to do; all parts combine. */
export interface Wish {
  readonly payments?: readonly Payment[] | undefined;
  /** CBOR of the map of metadata, in hexadecimal (`encodeMetadata`); encrypted already where that is asked for. */
  readonly metadata?: string | undefined;
  readonly mintBurn?: readonly MintBurn[] | undefined;
  readonly delegations?: readonly DelegationWish[] | undefined;
  readonly vote?: DRep | undefined;
  /** All rewards of the account are withdrawn. */
  readonly withdrawal?: "self" | undefined;
  /** From slot 0 to two hours from now unless said otherwise. */
  readonly validity?: { readonly from?: Bound | undefined; readonly before?: Bound | undefined } | undefined;
  /** Put into the first output as a reference script. */
  readonly referencePolicy?: PolicyTemplate | undefined;
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

/** The wallet's stake account, as it stands. */
export interface StakeAccount {
  readonly credential: Credential;
  readonly path: Path;
  readonly registered: boolean;
  /** Lovelace paid at its registration. */
  readonly deposit: bigint;
  /** Lovelace to be withdrawn. */
  readonly rewards: bigint;
  readonly pool?: string | undefined;
  readonly drep?: DRep | undefined;
}

/** What the wallet has, at the point at which the transaction is built. */
export interface Means {
  readonly coins: readonly OwnCoin[];
  /** Where change goes, in this order: at least one; where there are fewer than outputs of change, the last one takes the rest. */
  readonly change: readonly OwnAddress[];
  /** Absent where the wallet has none. */
  readonly account?: StakeAccount | undefined;
  /** Hash of the policy key, where it was set. */
  readonly policyKey?: string | undefined;
  /** Of shared wallets: CBOR of the native scripts behind the addresses of `coins` and behind the account. */
  readonly scripts?: readonly Uint8Array[] | undefined;
  /** How inputs are chosen; `per-output` unless set. */
  readonly selection?: "per-output" | "round-robin" | undefined;
}

/** Where and when. */
export interface Setting {
  readonly parameters: Parameters;
  readonly network: NetworkId;
  readonly slots: SlotConfig;
  /** The slot it is now. */
  readonly slot: number;
  /** First slot of the next epoch, where it is known: what withdraws rewards is valid no longer. */
  readonly boundary?: number | undefined;
}

/** Jobs `construct` and `fees`. */
export interface ConstructInput extends Setting {
  readonly wish: Wish;
  readonly means: Means;
  /** Outputs that `MintBurn` refers to. */
  readonly references?: readonly Utxo[] | undefined;
  /** Makes the choice of inputs repeatable; random unless set. */
  readonly seed?: number | undefined;
}

/** Job `migrate`: all of `means.coins` goes to `means.change`, which need not be the wallet's. */
export interface MigrateInput extends Setting {
  readonly means: Means;
}

/** A part of a migration: all of its transactions may not fit into one message. */
export interface MigrationPart {
  /** CBOR of each, without signatures. */
  readonly transactions: readonly Uint8Array[];
  readonly parts: number;
  /** The same for all parts of a plan. */
  readonly plan: string;
  /** The slot that it is made in: asked for together with the other parts. */
  readonly slot: number;
}

/** An output that a transaction spends or puts up; in a partial transaction it may be somebody else's, whose path is empty. */
export interface ChosenCoin {
  readonly ref: OutRef;
  readonly address: string;
  readonly lovelace: bigint;
  readonly assets: AssetList;
  readonly path: Path;
}

/** An output, as a coin selection shows it. */
export interface ShownOutput {
  readonly address: string;
  readonly lovelace: bigint;
  readonly assets: AssetList;
}

/** What a transaction does with the wallet's means. */
export interface CoinSelection {
  readonly inputs: readonly ChosenCoin[];
  readonly outputs: readonly ShownOutput[];
  readonly change: readonly (ShownOutput & { readonly path: Path })[];
  readonly collateral: readonly ChosenCoin[];
  /** `account` is the reward address. */
  readonly withdrawals: readonly { readonly account: string; readonly path: Path; readonly lovelace: bigint }[];
  readonly certificates: readonly ShownCertificate[];
  readonly depositsTaken: readonly bigint[];
  readonly depositsReturned: readonly bigint[];
  /** CBOR of the map of metadata, in hexadecimal. */
  readonly metadata?: string;
}

/** A certificate about an account; `vote` is the reference's `cast_vote`. */
export interface ShownCertificate {
  readonly type: "join_pool" | "quit_pool" | "register_reward_account" | "cast_vote";
  readonly pool?: string;
  readonly drep?: DRep;
  /** Path of the account where it is the wallet's. */
  readonly path?: Path;
  /** Reward address of the account. */
  readonly account: string;
}

/** A transaction to be signed. */
export interface Constructed {
  /** CBOR, without the wallet's signatures. */
  readonly transaction: Uint8Array;
  readonly txHash: string;
  readonly fee: bigint;
  /** First slot in which it is no longer valid. */
  readonly validTo?: number;
  /** Bytes once signed. */
  readonly size: number;
  readonly selection: CoinSelection;
  /** Own outputs that it spends or puts up as collateral: what a reservation covers. */
  readonly spends: readonly OutRef[];
}

/** Answer of `payment-fees` and `delegation-fees`. */
export interface FeeEstimate {
  readonly least: bigint;
  readonly most: bigint;
  /** The least that each payment's output must hold. */
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

/** Job `balance`: a partial transaction gets inputs, change, collateral, units and fee. */
export interface BalanceInput extends Setting {
  /** CBOR, with or without witnesses; a fee that it states is replaced. */
  readonly transaction: Uint8Array;
  /** Inputs and reference inputs that are no coins of the wallet, as the caller states or resolved them. */
  readonly inputs: readonly Utxo[];
  readonly redeemers: readonly GivenRedeemer[];
  readonly means: Means;
  /** Deposits paid for credentials that the transaction unregisters in the old form, by `key-<hash>` or `script-<hash>`. */
  readonly deposits?: ReadonlyMap<string, bigint> | undefined;
  /** Those of the pools that it registers which are registered already: they pay no deposit again. */
  readonly pools?: readonly string[] | undefined;
  readonly seed?: number | undefined;
}

/** What is the wallet's own, for decoding: only what a transaction asks for (`askedOf`) need be in it. */
export interface Owns {
  readonly addresses: readonly OwnAddress[];
  /** Outputs of the wallet, spent ones too where they are known. */
  readonly coins: readonly OwnCoin[];
  readonly account?: { readonly credential: Credential; readonly path: Path } | undefined;
  /** Hash of the policy key. */
  readonly policyKey?: string | undefined;
}

/** Job `decode`. */
export interface DecodeInput {
  readonly transaction: Uint8Array;
  readonly network: NetworkId;
  /** Lovelace of the deposit of a credential registered without a stated one. */
  readonly keyDeposit: bigint;
  readonly owns: Owns;
  /** Deposits of credentials unregistered without a stated one, by reward address; the parameter's otherwise. */
  readonly deposits?: ReadonlyMap<string, bigint> | undefined;
  /** Outputs behind the reference inputs, where known: for the scripts in them. */
  readonly references?: readonly Utxo[] | undefined;
}

/** What has to be looked up before a transaction is decoded or balanced. */
export interface Asked {
  readonly inputs: readonly OutRef[];
  readonly collateral: readonly OutRef[];
  readonly references: readonly OutRef[];
  /** Addresses of its outputs. */
  readonly addresses: readonly string[];
  /** Pools that it registers, perhaps again. */
  readonly pools: readonly string[];
}

/** An input; what it holds is known of the wallet's own. */
export interface DecodedInput {
  readonly ref: OutRef;
  readonly own?: ShownOutput & { readonly path: Path };
}

/** An output; own ones have a path. */
export type DecodedOutput = ShownOutput & { readonly path?: Path };

/** A script of a transaction. `native` is CBOR in hexadecimal. */
export type DecodedScript =
  | { readonly kind: "native"; readonly native: string; readonly reference?: OutRef }
  | { readonly kind: "plutus"; readonly language: 1 | 2 | 3; readonly hash: string; readonly reference?: OutRef }
  /** Stands in one of these outputs, which are not known. */
  | { readonly kind: "reference"; readonly hash: string; readonly references: readonly OutRef[] };

/** What is minted or burned under a policy; quantities are positive. */
export interface DecodedPolicy {
  readonly policy: string;
  readonly script?: DecodedScript;
  readonly assets: readonly { readonly name: string; readonly quantity: bigint; readonly fingerprint: string }[];
}

/** A certificate: those about accounts in the words of the wire, all others as they stand. */
export type DecodedCertificate = ShownCertificate | { readonly type: "other"; readonly certificate: Certificate };

/** A transaction, taken apart. */
export interface Decoded {
  readonly id: string;
  readonly fee: bigint;
  readonly inputs: readonly DecodedInput[];
  readonly outputs: readonly DecodedOutput[];
  readonly collateral: readonly DecodedInput[];
  readonly collateralOutputs: readonly DecodedOutput[];
  readonly withdrawals: readonly { readonly account: string; readonly lovelace: bigint; readonly path?: Path }[];
  readonly mint: readonly DecodedPolicy[];
  readonly burn: readonly DecodedPolicy[];
  /** Hash of the wallet's policy key where a script of the mint names it. */
  readonly policyKey?: string;
  readonly certificates: readonly DecodedCertificate[];
  readonly depositsTaken: readonly bigint[];
  readonly depositsReturned: readonly bigint[];
  /** CBOR of the map of metadata, in hexadecimal. */
  readonly metadata?: string;
  /** Absent where no Plutus script is in it. */
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

/** Why inputs, change and fee cannot be found. `details` is the `info` of the wire where the reference has one. */
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

/** Why a wish cannot be fulfilled. */
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
    | "pool_already_joined"
    | "pool_already_joined_same_vote"
    | "same_vote"
    | "not_delegating_to"
    | "non_null_rewards"
    | "missing_reward_account"
    | "unresolved_inputs"
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
    | "balance_tx_existing_collateral"
    | "balance_tx_existing_key_witnesses"
    | "balance_tx_existing_return_collateral"
    | "balance_tx_existing_total_collateral"
  >;

/** Why nothing is migrated. */
export type MigrateFailure = Failure<"nothing_to_migrate" | "invalid_validity_bounds">;

/** Why bytes are not decoded. */
export type DecodeFailure = Failure<"bad_request">;
