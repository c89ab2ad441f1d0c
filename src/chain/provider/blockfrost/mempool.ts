/** Submission to a Blockfrost service, and its mempool. */
import { scanTransaction } from "#src/cardano/scan.ts";
import type { Dialect } from "#src/chain/provider/blockfrost/dialect.ts";
import { blockfrostError, hasFailed, unless } from "#src/chain/provider/blockfrost/errors.ts";
import type { BlockfrostHttp } from "#src/chain/provider/blockfrost/http.ts";
import type { Submission } from "#src/chain/provider/port.ts";

/** Accepted transactions that are remembered, for services without mempool requests. */
const MAX_ACCEPTED = 1_000;

export class BlockfrostMempool {
  readonly #accepted = new Set<string>();

  constructor(
    private readonly http: BlockfrostHttp,
    private readonly dialect: Pick<Dialect, "mempool" | "failures">,
  ) {}

  /** Whether the service's mempool holds a transaction. Throws `BlockfrostError`. */
  async holds(hash: string): Promise<boolean> {
    const listed = this.dialect.mempool
      ? await unless(this.http.find(`/mempool/${hash}`).then((found) => found !== undefined), "lacking")
      : undefined;
    return listed ?? (this.#accepted.has(hash) && await this.http.find(`/txs/${hash}`) === undefined);
  }

  /** Submits a transaction (CBOR). Throws `BlockfrostError`. */
  async submit(transaction: Uint8Array<ArrayBuffer>): Promise<Submission> {
    const { hash } = scanTransaction(transaction);
    try {
      const answer = await this.http.post("/tx/submit", transaction);
      if (answer !== hash) {
        throw blockfrostError(
          "unusable",
          `${this.http.where} returned another hash for the submitted transaction ${hash}.`,
        );
      }
    } catch (error) {
      if (!hasFailed(error, "refused")) throw error;
      // a transaction that the service already has is refused too
      if (!await this.holds(hash) && await this.http.find(`/txs/${hash}`) === undefined) {
        return { outcome: "refused", failures: this.dialect.failures(error.failure.message, transaction) };
      }
    }
    this.#accepted.add(hash);
    const [oldest] = this.#accepted;
    if (oldest !== undefined && this.#accepted.size > MAX_ACCEPTED) this.#accepted.delete(oldest);
    return { outcome: "accepted" };
  }
}
