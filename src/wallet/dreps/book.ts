/**
 * Cache of a network's representatives (DReps) and their metadata. The list is queried at most every 15 seconds,
 * because the query reads much of the ledger state. Metadata is fetched on demand, cached by its hash, and fetched
 * again an hour after a failure.
 */
import { setBounded } from "#src/base/maps.ts";
import { mapParallel } from "#src/base/parallel.ts";
import { ok, type Result } from "#src/base/result.ts";
import { type DrepMetadata, fetchDrepMetadata } from "#src/wallet/dreps/metadata.ts";
import type { Credential } from "#src/cardano/address.ts";
import type { DrepAnchor, DrepsPort, DrepsUnknown, ListedDrep, ListedDreps } from "#src/wallet/dreps/types.ts";
import type { FetchOptions } from "#src/wallet/outside/fetch.ts";

interface DrepBookOptions {
  readonly port: DrepsPort;
  readonly fetch: Omit<FetchOptions, "body" | "maxBytes">;
  /** Milliseconds for which a list is used. */
  readonly freshMs?: number;
}

const FRESH_MS = 15_000;
const RETRY_MS = 3_600_000;
/** Requests at the same time. */
const CONCURRENT = 8;
/** Most texts that are cached. */
const MOST_CACHED = 5_000;

export class DrepBook {
  private list: { readonly at: number; readonly value: ListedDreps } | undefined;
  /** Hash of the newest block when a representative was last missing. */
  private missedIn: string | undefined;
  private query: Promise<Result<ListedDreps, DrepsUnknown>> | undefined;
  private readonly texts = new Map<string, { readonly metadata: DrepMetadata | undefined; readonly at: number }>();

  constructor(private readonly options: DrepBookOptions) {}

  /** All registered representatives. */
  async all(): Promise<Result<ListedDreps, DrepsUnknown>> {
    const { freshMs = FRESH_MS } = this.options;
    if (this.list && performance.now() - this.list.at < freshMs) return ok(this.list.value);
    return await (this.query ??= this.queryAll().finally(() => this.query = undefined));
  }

  /**
   * A representative, and the epoch of the list that it is in. One that the cached list lacks may have registered in
   * `block`, the hash of the newest block: for the first such request in a block the list is queried again.
   */
  async find(
    wanted: Credential | undefined,
    block: string,
  ): Promise<Result<{ readonly epoch: number; readonly found: ListedDrep | undefined }, DrepsUnknown>> {
    const foundIn = ({ epoch, all }: ListedDreps) => ({
      epoch,
      found: all.find(({ credential }) => credential.kind === wanted?.kind && credential.hash === wanted.hash),
    });
    const listed = await this.all();
    if (!listed.ok) return listed;
    const result = foundIn(listed.value);
    if (result.found || wanted === undefined || this.missedIn === block) return ok(result);
    const again = await this.queryAll();
    if (!again.ok) return again;
    this.missedIn = block;
    return ok(foundIn(again.value));
  }

  private async queryAll(): Promise<Result<ListedDreps, DrepsUnknown>> {
    const answer = await this.options.port.dreps();
    if (!answer.ok) return answer;
    const { value } = answer.value;
    this.list = { at: performance.now(), value };
    return ok(value);
  }

  /** Cached metadata of an anchor. */
  cached(anchor: DrepAnchor | undefined): DrepMetadata | undefined {
    return anchor && this.texts.get(keyOf(anchor))?.metadata;
  }

  /** Fetches the metadata of anchors that is not cached, for at most `mostMs` milliseconds. */
  async fetchMissing(anchors: readonly (DrepAnchor | undefined)[], mostMs: number): Promise<void> {
    const due = anchors.filter((anchor) => anchor !== undefined).filter((anchor) => this.isDue(anchor));
    if (due.length === 0) return;
    const late = AbortSignal.timeout(mostMs);
    await mapParallel(due, CONCURRENT, async (one) => {
      if (late.aborted) return;
      const metadata = await fetchDrepMetadata(one, { ...this.options.fetch, signal: late });
      if (metadata === undefined && late.aborted) return;
      setBounded(this.texts, keyOf(one), { metadata, at: performance.now() }, MOST_CACHED);
    });
  }

  private isDue(anchor: DrepAnchor): boolean {
    const text = this.texts.get(keyOf(anchor));
    return text === undefined || (text.metadata === undefined && performance.now() - text.at > RETRY_MS);
  }
}

const keyOf = ({ url, hash }: DrepAnchor) => `${hash} ${url}`;
