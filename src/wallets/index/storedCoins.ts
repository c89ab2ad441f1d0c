/**
 * A wallet's unspent outputs as the database packs them: a few long values instead of a row each. Ten thousand rows
 * with all that is decoded of them occupy the event loop several times as long, and most readers hand them to a builder
 * thread without a look at them.
 */
import { elementAt } from "#src/base/present.ts";
import { type OutRef, parseRefKey, type Utxo } from "#src/cardano/output.ts";
import type { Queries } from "#src/store/store.ts";
import { pathOf, type WalletFacts } from "#src/wallets/index/owners.ts";
import { storedOutput } from "#src/wallets/index/stored.ts";
import type { OwnUtxo } from "#src/wallets/index/types.ts";

/** Outputs of a wallet, packed; each list has one item for each output. */
interface CoinRows {
  readonly facts: WalletFacts;
  /** `refKey`s. */
  readonly refs: readonly string[];
  /** Role and index of its key. */
  readonly roles: readonly string[];
  readonly indices: readonly string[];
  /** CBOR of all, one after the other. */
  readonly outputs: Uint8Array;
}

/** An unspent output of a wallet, decoded when it is first looked at. */
export class StoredCoin implements OwnUtxo {
  #utxo: Utxo | undefined;

  constructor(
    private readonly rows: CoinRows,
    private readonly place: number,
    /** Where its CBOR begins and ends. */
    private readonly start: number,
    private readonly end: number,
    /** Spend priority, as in `Coin`. */
    readonly preference: number = 0,
  ) {}

  /** `refKey` of the output. */
  get key(): string {
    return elementAt(this.rows.refs, this.place);
  }

  get ref(): OutRef {
    return parseRefKey(this.key);
  }

  /** CBOR of the output. */
  get raw(): Uint8Array {
    return this.rows.outputs.subarray(this.start, this.end);
  }

  get path(): readonly number[] {
    const { facts, roles, indices } = this.rows;
    return pathOf(facts, Number(elementAt(roles, this.place)), Number(elementAt(indices, this.place)));
  }

  get utxo(): Utxo {
    return this.#utxo ??= { ref: this.ref, output: storedOutput(this.raw) };
  }

  /** The same coin with another priority. */
  withPreference(preference: number): StoredCoin {
    return new StoredCoin(this.rows, this.place, this.start, this.end, preference);
  }
}

/** Outputs of a wallet in the ledger. */
export async function readStoredCoins(sql: Queries, facts: WalletFacts): Promise<StoredCoin[]> {
  // in several values, because one is at most a gigabyte
  const rows = await sql<{ refs: string; roles: string; indices: string; lengths: string; outputs: Uint8Array }[]>`
    select string_agg(ref, ',') as refs, string_agg(role::text, ',') as roles, string_agg(index::text, ',') as indices,
      string_agg(length(output)::text, ',') as lengths, string_agg(output, ''::bytea) as outputs
    from wallet_utxo where wallet = ${facts.wallet} and to_slot is null group by from_slot & 15`;
  return rows.flatMap(({ refs, roles, indices, lengths, outputs }) => {
    const packed = { facts, refs: refs.split(","), roles: roles.split(","), indices: indices.split(","), outputs };
    let end = 0;
    return lengths.split(",").map((length, place) => {
      const start = end;
      end += Number(length);
      return new StoredCoin(packed, place, start, end);
    });
  });
}
