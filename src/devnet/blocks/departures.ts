/**
 * The last transactions that the devnet refused, or that left the mempool or the chain without a block, with the
 * reasons. They are in the memory of the process that has the chain, which also writes them (`departureRows.ts`).
 *
 * Assumptions: a transaction may be submitted again and then be in a block; who reads the record looks there first.
 */
import type { LedgerFailure } from "#src/cardano/failure.ts";

/** How a transaction departed. */
export type DepartureKind =
  /** The ledger's rules refused the submission. */
  | "refused"
  /** It left the mempool: its validity ended, or what it needs is no longer there. */
  | "dropped"
  /** A rollback, a reset or a restore took it out of the chain or the mempool. */
  | "withdrawn";

/** A transaction that departed. */
export interface Departure {
  readonly hash: string;
  readonly cbor: Uint8Array;
  readonly kind: DepartureKind;
  /** The operation that removed it, as the end of a sentence. */
  readonly why: string;
  /** The ledger's reasons; none where it was withdrawn. */
  readonly failures: readonly LedgerFailure[];
  /** When, in milliseconds since 1970, and the devnet's slot then. */
  readonly at: number;
  readonly slot: number;
}

/** Most departures and most bytes of their transactions that are remembered. */
export const MOST_DEPARTURES = 500;
const MOST_BYTES = 8_000_000;

export class Departures {
  /** By hash, oldest first. */
  readonly #byHash = new Map<string, Departure>();
  #bytes = 0;

  /** `most` and `mostBytes`: the limits; the oldest are forgotten first. */
  constructor(private readonly most = MOST_DEPARTURES, private readonly mostBytes = MOST_BYTES) {}

  /** Remembers a departure; it replaces an earlier one of the same transaction. */
  add(departure: Departure): void {
    this.#forget(departure.hash);
    this.#byHash.set(departure.hash, departure);
    this.#bytes += departure.cbor.length;
    for (const hash of this.#byHash.keys()) {
      if (this.#byHash.size <= this.most && this.#bytes <= this.mostBytes) break;
      this.#forget(hash);
    }
  }

  /** The last departure of a transaction. */
  get(hash: string): Departure | undefined {
    return this.#byHash.get(hash);
  }

  /** All that are remembered, newest first. */
  newestFirst(): Departure[] {
    return [...this.#byHash.values()].reverse();
  }

  #forget(hash: string): void {
    const departure = this.#byHash.get(hash);
    if (departure === undefined) return;
    this.#byHash.delete(hash);
    this.#bytes -= departure.cbor.length;
  }
}
