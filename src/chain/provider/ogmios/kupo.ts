/**
 * Kupo: which outputs are at an address.
 *
 * Assumptions: it indexes the addresses that its patterns include, from the block with which it was started on. Every
 * answer states the block that Kupo has reached, in two headers. It is not trusted further than for the names of
 * outputs: what they hold is read from the ledger at that block.
 */
import { joined } from "#src/base/bytes.ts";
import { type Json, readJson } from "#src/base/json.ts";
import { reason } from "#src/base/log.ts";
import { mapParallel } from "#src/base/parallel.ts";
import { origin, type Point, samePoint } from "#src/cardano/block.ts";
import type { OutRef } from "#src/cardano/output.ts";
import type { At } from "#src/chain/provider/answer.ts";
import { asOgmiosError, OgmiosError, ogmiosError } from "#src/chain/provider/ogmios/errors.ts";
import { countOf, hexOf, isGiven, listOf, objectOf, OgmiosFormError } from "#src/ogmios/form.ts";

export interface KupoSettings {
  /** URL of the server: `http://127.0.0.1:1442`. */
  readonly url: string;
  /** Milliseconds to wait for an answer; 20,000 by default. */
  readonly answerMs?: number;
  /** Bytes of an answer at most; 32 MB by default. */
  readonly maxBytes?: number;
}

/** An answer, and the block that Kupo had reached. */
interface KupoAnswer {
  readonly point: Point;
  readonly body: Json;
}

const PARALLEL = 4;
/** Attempts to get all answers of one block. */
const MAX_TRIES = 5;

export class Kupo {
  /** Host of the server, for messages. */
  readonly where: string;
  readonly #base: string;

  constructor(private readonly settings: KupoSettings, private readonly closed: AbortSignal) {
    this.where = new URL(settings.url).host;
    this.#base = settings.url.replace(/\/+$/, "");
  }

  /** The block that it has reached. Throws `OgmiosError`. */
  async tip(): Promise<Point> {
    const { point } = await this.#get("/checkpoints/0");
    return point;
  }

  /** Whether every one of some addresses (as texts) is indexed. Throws `OgmiosError`. */
  async indexes(addresses: readonly string[]): Promise<boolean> {
    const found = await mapParallel([...addresses], PARALLEL, async (address) => {
      const { body } = await this.#get(`/patterns/${address}`);
      return this.#read(() => listOf(body, "the patterns")).length > 0;
    });
    return found.every((included) => included);
  }

  /** Names of the unspent outputs at some addresses (as texts), at one block. Throws `OgmiosError`. */
  async unspent(addresses: readonly string[]): Promise<At<readonly OutRef[]>> {
    for (let tries = 1;; tries++) {
      const answers = await mapParallel(
        [...addresses],
        PARALLEL,
        (address) => this.#get(`/matches/${address}?unspent`),
      );
      const [first] = answers;
      if (!first) return { point: origin, value: [] };
      if (answers.every(({ point }) => samePoint(point, first.point))) {
        return { point: first.point, value: answers.flatMap(({ body }) => this.#read(() => readMatches(body))) };
      }
      if (tries >= MAX_TRIES) {
        throw ogmiosError("unreachable", `Kupo at ${this.where} moves on faster than it answers.`);
      }
    }
  }

  #read<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw asOgmiosError(error, `Kupo at ${this.where}`);
    }
  }

  async #get(path: string): Promise<KupoAnswer> {
    const { answerMs = 20_000 } = this.settings;
    const late = AbortSignal.timeout(answerMs);
    try {
      const response = await fetch(this.#base + path, {
        headers: { accept: "application/json" },
        redirect: "error",
        signal: AbortSignal.any([late, this.closed]),
      });
      const body = readJson(await this.#bytes(response));
      if (response.status !== 200) throw this.#failed(response.status, body);
      if (body === undefined) throw ogmiosError("unusable", `An answer of Kupo at ${this.where} is not JSON.`);
      return { point: this.#read(() => pointOf(response.headers)), body };
    } catch (error) {
      if (error instanceof OgmiosError) throw error;
      if (this.closed.aborted) throw ogmiosError("aborted", "The port was closed.");
      if (late.aborted) {
        throw ogmiosError("unreachable", `Kupo at ${this.where} did not respond within ${answerMs / 1_000} s.`);
      }
      throw ogmiosError("unreachable", `Kupo at ${this.where} cannot be reached (${reason(error).slice(0, 300)}).`);
    }
  }

  #failed(status: number, body: Json | undefined): OgmiosError {
    const hint = typeof body === "object" && body !== null && "hint" in body
      ? `: ${String(body.hint).slice(0, 300)}`
      : "";
    // 503: it has no free connection to its database
    return ogmiosError(
      status === 400 ? "unusable" : "unreachable",
      `Kupo at ${this.where} responded with status ${status}${hint}.`,
    );
  }

  /** Reads the body, up to the bound. */
  async #bytes(response: Response): Promise<Uint8Array> {
    const { maxBytes = 32_000_000 } = this.settings;
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of response.body ?? []) {
      size += part.length;
      if (size > maxBytes) {
        throw ogmiosError("unusable", `An answer of Kupo at ${this.where} has more than ${maxBytes} bytes.`);
      }
      parts.push(part);
    }
    return joined(parts);
  }
}

/** The block that an answer states; without a hash, Kupo has read none. */
function pointOf(headers: Headers): Point {
  const hash = headers.get("etag")?.replaceAll('"', "");
  const slot = headers.get("x-most-recent-checkpoint");
  if (slot === null) throw new OgmiosFormError("it states no checkpoint");
  if (hash === undefined && slot === "0") return origin;
  if (hash === undefined) throw new OgmiosFormError("it states no block hash (ETag): a newer Kupo is needed");
  return {
    slot: countOf(/^\d{1,15}$/.test(slot) ? Number(slot) : null, "the checkpoint"),
    hash: hexOf(hash, "the tag", 32),
  };
}

function readMatches(body: Json): readonly OutRef[] {
  return listOf(body, "the matches").map((one) => {
    const { transaction_id, output_index, spent_at } = objectOf(one, "a match");
    if (isGiven(spent_at)) throw new OgmiosFormError("a match is spent");
    return { txHash: hexOf(transaction_id, "the transaction's id", 32), index: countOf(output_index, "the index") };
  });
}
