/** Queries of a Blockfrost service whose answers hold at one point, and their failures as values. */
import type { Log } from "#src/base/log.ts";
import { fail, ok, type Result } from "#src/base/result.ts";
import type { Tip } from "#src/cardano/block.ts";
import { type At, type Unanswered, type Unreachable, unsupported } from "#src/chain/provider/answer.ts";
import type { Dialect } from "#src/chain/provider/blockfrost/dialect.ts";
import { BlockfrostError, blockfrostError, hasFailed } from "#src/chain/provider/blockfrost/errors.ts";
import { readTip } from "#src/chain/provider/blockfrost/follow.ts";
import type { BlockfrostHttp } from "#src/chain/provider/blockfrost/http.ts";
import type { KnownNetwork } from "#src/chain/provider/blockfrost/network.ts";

/** Times that an answer is composed again because a block arrived meanwhile. */
const MAX_TRIES = 5;

export class BlockfrostQueries {
  #network: KnownNetwork | undefined;

  /** `magic`: that of the expected network. */
  constructor(
    private readonly http: BlockfrostHttp,
    private readonly dialect: Pick<Dialect, "readNetwork">,
    private readonly magic: number,
    private readonly log: Log,
  ) {}

  /** The service's network. Throws `BlockfrostError`; `refused` if it is another one than expected. */
  async network(signal?: AbortSignal): Promise<KnownNetwork> {
    if (this.#network) return this.#network;
    const found = await this.dialect.readNetwork(signal);
    const { magic } = found.network;
    if (magic !== this.magic) {
      throw blockfrostError(
        "refused",
        `${this.http.where} is for the network with magic ${magic}, not ${this.magic}.`,
      );
    }
    return this.#network = found;
  }

  /** Runs a query for a caller of the port. */
  async query<T>(work: () => Promise<T>): Promise<Result<T, Unreachable>> {
    try {
      return ok(await work());
    } catch (error) {
      if (!(error instanceof BlockfrostError)) throw error;
      this.log.warn(`the ${this.http.service} did not respond`, { service: this.http.where, ...error.failure });
      return fail("network_unreachable", error.failure.message);
    }
  }

  /** Runs a query at the tip. */
  atTip<T>(work: (tip: Tip) => Promise<T>): Promise<Result<At<T>, Unreachable>> {
    return this.query(() => this.#whileTipStays(work));
  }

  /** Runs a query at the tip that the service may not support. */
  async ofLedger<T>(work: (tip: Tip) => Promise<T>): Promise<Result<At<T>, Unanswered>> {
    const answer = await this.query(() =>
      this.#whileTipStays(work).catch((error) => {
        if (hasFailed(error, "lacking")) return error.failure.message;
        throw error;
      })
    );
    if (!answer.ok) return answer;
    return typeof answer.value === "string" ? unsupported(answer.value) : ok(answer.value);
  }

  /** What `work` gives for the newest block, if that stays the same meanwhile; else it runs again. */
  async #whileTipStays<T>(work: (tip: Tip) => Promise<T>): Promise<At<T>> {
    let before = await readTip(this.http);
    for (let tries = 1;; tries++) {
      const value = await work(before);
      const after = await readTip(this.http);
      if (after.hash === before.hash) return { point: { slot: after.slot, hash: after.hash }, value };
      if (tries >= MAX_TRIES) {
        throw blockfrostError(
          "unreachable",
          `${this.http.where} produces blocks faster than it answers the query.`,
        );
      }
      before = after;
    }
  }
}
