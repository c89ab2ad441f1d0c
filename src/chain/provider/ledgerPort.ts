/**
 * What wallets read from a network's ledger: accounts, pools, rankings, epochs, eras and the genesis.
 *
 * Assumptions: rewards and stake are in no block, so they have to be queried. Callers have many credentials, so queries
 * take sets. A provider may not support some of the queries at all, which differs from being unreachable now.
 *
 * The wallets' network endpoints (`/v2/network/information`, `/v2/network/parameters`) are composed from these answers
 * and those of the chain port. With a node they come from:
 * - `genesis` (GetGenesisConfig): system start, share of slots with a block, k, length of epochs and slots, maximum
 *   supply;
 * - `eras` (GetSystemStart, GetInterpreter, GetCurrentEra): the start of each era, epoch and time of a slot, the start
 *   of the next epoch, the current slot (unless that is past the horizon, as while a node is far behind), and the
 *   ledger's era;
 * - `parameters` (GetCurrentPParams): desired pools, collateral inputs, maximum value size, execution prices. The
 *   decentralisation level is 100 % since Babbage;
 * - the genesis hash: no query. It is known for public networks, read from the first block if that is one of Byron,
 *   configured otherwise.
 */
import type { Result } from "#src/base/result.ts";
import type { Credential } from "#src/cardano/address.ts";
import type { DRep } from "#src/cardano/certificates.ts";
import type { ActionId } from "#src/cardano/conway/governance.ts";
import type { Epoch, Eras } from "#src/cardano/eras.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import { type At, type Unanswered, unsupported } from "#src/chain/provider/answer.ts";
import type { PoolParameters } from "#src/node/queries/pools.ts";

/** The account of a stake credential. Amounts are lovelace, hashes hexadecimal. */
export interface StakeAccount {
  readonly credential: Credential;
  readonly registered: boolean;
  /** Rewards not withdrawn; 0 if the account is not registered. */
  readonly rewards: bigint;
  /** The deposit of its registration, if it is registered and the provider reports it. */
  readonly deposit: bigint | undefined;
  /** The pool to which its stake is delegated. */
  readonly pool: string | undefined;
  /** The DRep to which its votes are delegated, if they are and the provider reports it. */
  readonly drep: DRep | undefined;
  /** Set where the provider reports registration and delegation only in part: what is missing may be in the ledger. */
  readonly incomplete?: true;
}

/** Terms of a pool that every provider reports which reports pools. */
type PoolTerms = Pick<PoolParameters, "pool" | "pledge" | "cost" | "margin" | "metadata">;

/** A registered stake pool. Amounts are lovelace, hashes hexadecimal. */
export interface StakePool extends PoolTerms, Partial<Omit<PoolParameters, keyof PoolTerms>> {
  /** The parameters that apply from the next epoch on, if it registered new ones and the provider reports it. */
  readonly future?: PoolParameters | undefined;
  /** The epoch in which it retires, if it announced that. */
  readonly retiring: number | undefined;
  /** The deposit of its registration, if the provider reports it. */
  readonly deposit?: bigint;
  /**
   * Its share of all lovelace in circulation, by current delegation; undefined if the provider does not report it.
   * Times `desiredPools` (a protocol parameter) this is its saturation.
   */
  readonly share: Ratio | undefined;
  /** The lovelace of that share, if the provider reports it. */
  readonly stake: bigint | undefined;
}

/** A registered representative. Amounts are lovelace, hashes hexadecimal. */
interface DRepState {
  readonly credential: Credential;
  /** Epoch after which its votes no longer count, unless it is active again before. */
  readonly expiry: number;
  /** Where its metadata is, and the hash of that. */
  readonly anchor: { readonly url: string; readonly hash: string } | undefined;
  readonly deposit: bigint;
  /** Lovelace delegated to it, if the provider reports it. */
  readonly stake: bigint | undefined;
}

/** All DReps, as of an epoch. */
export interface DRepStates {
  readonly epoch: number;
  /** Ordered by id, scripts first. */
  readonly all: readonly DRepState[];
}

/** What the ledger has of one representative. Members that the provider does not report are undefined. */
export interface DRepStatus {
  readonly credential: Credential;
  readonly registered: boolean;
  /** Whether its votes count: it is registered, and was active in the last epochs. */
  readonly active: boolean;
  /** Epoch after which its votes no longer count, unless it is active again before. */
  readonly expiry: number | undefined;
  readonly anchor: { readonly url: string; readonly hash: string } | undefined;
  readonly deposit: bigint | undefined;
  /** Lovelace delegated to it: as of the last epoch boundary where it comes from a ledger, now where from Blockfrost. */
  readonly stake: bigint | undefined;
}

/** Whether a governance action is voted on. */
export interface ActionStatus {
  readonly id: ActionId;
  /** `ended`: expired, enacted or dropped; `unknown`: the chain has no such action. */
  readonly state: "open" | "ended" | "unknown";
  /** The last epoch in which it is voted on, of an open one. */
  readonly lastEpoch?: number;
}

/** The genesis of a network: constants. */
export interface NetworkGenesis {
  /** Hash of the Byron genesis, which identifies the network to wallets; undefined if unknown. */
  readonly hash: string | undefined;
  /** Time of slot 0, in ms since 1970. */
  readonly systemStart: number;
  /** Share of slots that have a block (f). */
  readonly activeSlots: Ratio;
  /** Blocks that a rollback may undo at most (k). */
  readonly securityParameter: number;
  /** Slots per epoch since Shelley. */
  readonly epochLength: number;
  /** Milliseconds per slot since Shelley. */
  readonly slotLength: number;
  /** Maximum supply, in lovelace. */
  readonly maxSupply: bigint;
}

/** Queries of the ledger. Each answer holds at one point, however it was composed. */
export interface LedgerPort {
  /** The accounts of stake credentials, one each, in order of first mention. A query may hold thousands. */
  accounts(credentials: readonly Credential[]): Promise<Result<At<readonly StakeAccount[]>, Unanswered>>;
  /** Every registered pool, ordered by id. Reads much of the ledger's state: query it rarely. */
  pools(): Promise<Result<At<readonly StakePool[]>, Unanswered>>;
  /** Lovelace that each pool would pay a member with this stake per epoch if all behave rationally, by pool id. */
  poolRanking(stake: bigint): Promise<Result<At<ReadonlyMap<string, bigint>>, Unanswered>>;
  /** Every registered DRep. Reads much of the ledger's state: query it rarely. */
  dreps(): Promise<Result<At<DRepStates>, Unanswered>>;
  /** Some DReps, registered or not, one for each credential and in the same order. */
  drepStatus(credentials: readonly Credential[]): Promise<Result<At<readonly DRepStatus[]>, Unanswered>>;
  /** Some governance actions, one for each id and in the same order. */
  actions(ids: readonly ActionId[]): Promise<Result<At<readonly ActionStatus[]>, Unanswered>>;
  /** The epoch of the newest block. */
  epoch(): Promise<Result<At<Epoch>, Unanswered>>;
  /** The mapping of slots, epochs and times (see `src/cardano/eras.ts`), up to a horizon after the newest block. */
  eras(): Promise<Result<At<Eras>, Unanswered>>;
  /** The network's genesis. */
  genesis(): Promise<Result<NetworkGenesis, Unanswered>>;
}

/** A port that supports none of these queries; `who` is the subject of the message. */
export function withoutLedger(who: string): LedgerPort {
  const none = () => Promise.resolve(unsupported(`${who} does not answer this.`));
  return {
    accounts: none,
    pools: none,
    poolRanking: none,
    dreps: none,
    drepStatus: none,
    actions: none,
    epoch: none,
    eras: none,
    genesis: none,
  };
}
