/** Types of the token service's answers, and options of its client. */
import type { z } from "zod";
import type * as answers from "#src/tokens/api/provedAnswers.ts";
import type * as api from "#src/tokens/api/tokens.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import type { CheckedTransaction } from "#src/client/checkedTransaction.ts";
import type { Limits, Resolve } from "#src/client/summary.ts";

export type Token = z.output<typeof api.token>;
export type Tokens = z.output<typeof api.tokens>;
export type Facts = z.output<typeof api.facts>;
export type ProvedTokens = z.output<typeof answers.provedTokens>;
export type ProvedToken = z.output<typeof answers.provedToken>;
export type ProvedRequests = z.output<typeof answers.provedRequests>;
export type ProvedFacts = z.output<typeof answers.provedFacts>;
export type LedgerTransaction = z.output<typeof api.transaction>;
export type Unsigned = z.output<typeof api.unsigned>;
export type UnsignedBoot = z.output<typeof api.unsignedBoot>;
export type UnsignedRequest = z.output<typeof api.unsignedRequest>;
export type Rebuilt = z.output<typeof api.rebuilt>;
export type UpdateDryRun = z.output<typeof api.updateDryRun>;
export type UnsignedTransfer = z.output<typeof api.unsignedTransfer>;
export type UnsignedUpdate = z.output<typeof api.unsignedUpdate>;

/** A build's answer whose transaction was found here to do what was asked for: `signTransaction` takes `checked`. */
export type Checked<T extends Unsigned> = T & { readonly checked: CheckedTransaction };

/** Who pays for a transaction, and how much at most. */
export interface PayingOptions {
  /**
   * The id of the service's wallet that the address belongs to: it pays with all of its coins, and signs, by
   * `WalletClient.sign`. By default the address pays alone.
   */
  readonly wallet?: string;
  /**
   * With `wallet`: which of the wallet's other addresses a transaction (CBOR in hexadecimal) spends from or pays to, as the service with
   * its keys says: `WalletClient.ownAddresses`. Without it such a transaction is refused.
   */
  readonly own?: (transaction: string) => Promise<readonly string[]>;
  /** Limits on what the transaction may cost; by default those of `Limits`. */
  readonly limits?: Partial<Omit<Limits, "address" | "own">>;
  /** Looks up the outputs that the transaction spends, from another source than this service. */
  readonly resolve?: Resolve;
  /** How slots map to time, for the times in `checked.summary`. */
  readonly slots?: SlotConfig;
}

/** How a request is built. */
export interface RequestOptions extends PayingOptions {
  /**
   * Refuses (`request_conflicts`) a request that conflicts with an open or pending one for its key. By default it is
   * built, with a warning.
   */
  readonly strict?: boolean;
  /**
   * Gives the transaction of a request that could not be applied after those that are open and pending (`warnings` says
   * why). By default the build throws, before a deposit is locked.
   */
  readonly force?: boolean;
}

/** What an update does besides applying requests. */
export interface UpdateOptions extends PayingOptions {
  /**
   * Requests (`<hash>-<index>`) that it refuses: each gets its whole deposit back, and its change is not made. For tokens
   * from version 3.0.0 of the contract on.
   */
  readonly refuse?: readonly string[];
  /** Whether no other request than the named ones is applied, also where none is named: the update then only refuses. */
  readonly onlyNamed?: boolean;
}

/** A token after a transition. */
export interface TokenNow {
  readonly tokenId: string;
  readonly status: "live" | "quarantined" | "ended" | "unknown";
  /** Why it is quarantined. */
  readonly reason?: string;
  readonly owner?: string;
  readonly root?: string;
  readonly outputRefId?: string;
}

/** An event of a token's stream: `opened`, or a transition (`updated`, `requested`, `rolled-back` …). */
export type TokenEvent =
  | { readonly type: "opened"; readonly id: string }
  | { readonly type: string; readonly id: string; readonly token: TokenNow };
