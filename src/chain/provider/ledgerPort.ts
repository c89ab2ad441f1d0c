/**
 * What wallets ask of a network's ledger: accounts, pools, rankings, epochs, how time runs, how it all began.
 *
 * Hypotheses: rewards and stake are in no block, so they are asked for; whoever asks has many credentials, hence sets; a provider may
 * have no answer to some of it, for ever, which is another thing than not being reached now.
 *
 * What a wallet says of its network (`/v2/network/information` and `/v2/network/parameters`) is put together from these answers and those
 * of the chain's port. Of a node, by the query that tells it:
 * - the system start, the share of slots with a block, k, the length of epochs and slots, all lovelace: `genesis` (GetGenesisConfig);
 * - when each era began, the epoch and the time of a slot, when the next epoch begins, the slot now (unless that is past the horizon, as
 *   while a node is far behind): `eras` (GetSystemStart, GetInterpreter), which also names the era of the ledger (GetCurrentEra);
 * - desired pools, collateral inputs, the size of a bundle of tokens, prices of execution: `parameters` (GetCurrentPParams); decentralised are all
 *   blocks since Babbage;
 * - the hash of the genesis: no query. Known of public networks, named by the first block where that is one of Byron, told otherwise.
 */
import type { Result } from "#src/base/result.ts";
import type { Credential } from "#src/cardano/address.ts";
import type { DRep } from "#src/cardano/certificates.ts";
import type { Epoch, Eras } from "#src/cardano/eras.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import { type At, type Unanswered, unsupported } from "#src/chain/provider/answer.ts";
import type { PoolParameters } from "#src/node/queries/pools.ts";

/** The account of a stake credential. Amounts are lovelace, hashes hexadecimal. */
export interface StakeAccount {
  readonly credential: Credential;
  readonly registered: boolean;
  /** Rewards not withdrawn; nothing where it is not registered. */
  readonly rewards: bigint;
  /** What its registration paid, where it is registered and the provider says. */
  readonly deposit: bigint | undefined;
  /** The pool that it delegates its stake to. */
  readonly pool: string | undefined;
  /** Whom its votes are delegated to, where they are and the provider says. */
  readonly drep: DRep | undefined;
}

/** A registered stake pool, with what it stated. Amounts are lovelace, hashes hexadecimal. */
export interface StakePool extends PoolParameters {
  /** What holds from the next epoch on, where it stated something new. */
  readonly future: PoolParameters | undefined;
  /** The epoch with which it ends, where that was announced. */
  readonly retiring: number | undefined;
  readonly deposit: bigint;
  /**
   * Its part of all lovelace in circulation, by who delegates to it now; undefined where the provider does not say. `desiredPools`
   * (a protocol parameter) times this is how saturated it is.
   */
  readonly share: Ratio | undefined;
  /** The lovelace of that part, where the provider says. */
  readonly stake: bigint | undefined;
}

/** A registered representative. Amounts are lovelace, hashes hexadecimal. */
export interface Representative {
  readonly credential: Credential;
  /** Epoch after which its votes count no longer, unless it shows itself again. */
  readonly expiry: number;
  /** Where it says what of itself, and the hash of that. */
  readonly anchor: { readonly url: string; readonly hash: string } | undefined;
  readonly deposit: bigint;
  /** Lovelace that votes with it, where the provider says. */
  readonly stake: bigint | undefined;
}

/** The representatives, in the epoch in which they were asked for. */
export interface Representatives {
  readonly epoch: number;
  /** By id: scripts first. */
  readonly all: readonly Representative[];
}

/** What a network began with, for ever. */
export interface NetworkGenesis {
  /** Hash of the Byron genesis, by which wallets name a network; undefined where nobody knows it. */
  readonly hash: string | undefined;
  /** When slot 0 begins, in ms since 1970. */
  readonly systemStart: number;
  /** Share of slots that have a block (f). */
  readonly activeSlots: Ratio;
  /** Blocks that a rollback may undo (k). */
  readonly securityParameter: number;
  /** Slots of an epoch since Shelley. */
  readonly epochLength: number;
  /** Milliseconds of a slot since Shelley. */
  readonly slotLength: number;
  /** All lovelace that there can be. */
  readonly maxSupply: bigint;
}

/** The questions. Each answer holds at one point, whatever it was put together from. */
export interface LedgerPort {
  /** The accounts of stake credentials, one for each, in the order of the first mention. Thousands may be asked for at once. */
  accounts(credentials: readonly Credential[]): Promise<Result<At<readonly StakeAccount[]>, Unanswered>>;
  /** Every registered pool, by id in ascending order. Goes through much of a network's state: not to be asked often. */
  pools(): Promise<Result<At<readonly StakePool[]>, Unanswered>>;
  /** Lovelace that each pool would pay a member with so much stake in an epoch, if all behave rationally, by id of the pool. */
  poolRanking(stake: bigint): Promise<Result<At<ReadonlyMap<string, bigint>>, Unanswered>>;
  /** Every registered representative. Goes through much of a network's state: not to be asked often. */
  dreps(): Promise<Result<At<Representatives>, Unanswered>>;
  /** The epoch of the newest block. */
  epoch(): Promise<Result<At<Epoch>, Unanswered>>;
  /** How slots, epochs and times map to each other (`src/cardano/eras.ts` reckons with it), up to a horizon after the newest block. */
  eras(): Promise<Result<At<Eras>, Unanswered>>;
  /** What the network began with. */
  genesis(): Promise<Result<NetworkGenesis, Unanswered>>;
}

/** A port without answers to these questions; `who` begins the sentence. */
export function withoutLedger(who: string): LedgerPort {
  const none = () => Promise.resolve(unsupported(`${who} does not answer this.`));
  return { accounts: none, pools: none, poolRanking: none, dreps: none, epoch: none, eras: none, genesis: none };
}
