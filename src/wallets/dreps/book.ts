/**
 * Cache of a network's representatives (DReps) and their metadata. The list is queried at most every 15 seconds,
 * because the query reads much of the ledger state; one representative is queried each time. Metadata is fetched on demand, cached by its hash, and fetched
 * again an hour after a failure. A fetch goes on when the request that began it does not wait any longer.
 */
import { setBounded } from "#src/base/maps.ts";
import { inTime } from "#src/base/clock.ts";
import { ok, type Result } from "#src/base/result.ts";
import { type DrepMetadata, fetchDrepMetadata } from "#src/wallets/dreps/metadata.ts";
import type { Credential } from "#src/cardano/address.ts";
import type { DrepAnchor, DrepsPort, DrepStatus, DrepsUnknown, ListedDreps } from "#src/wallets/dreps/types.ts";
import type { FetchOptions } from "#src/base/outsideFetch.ts";
import { OutsideTurns } from "#src/base/outsideTurns.ts";

interface DrepBookOptions {
  readonly port: DrepsPort;
  readonly fetch: Omit<FetchOptions, "body" | "maxBytes">;
  /** Milliseconds for which a list is used. */
  readonly freshMs?: number;
  /** Milliseconds after which the request for a text leaves its place to the next (`OutsideTurns`). */
  readonly slowMs?: number;
  /** Milliseconds until a text is fetched again after a failure; an hour by default. */
  readonly retryMs?: number;
}

const FRESH_MS = 15_000;
const RETRY_MS = 3_600_000;
/** Most texts that are cached. */
const MOST_CACHED = 5_000;

export class DrepBook {
  private list: { readonly at: number; readonly value: ListedDreps } | undefined;
  private query: Promise<Result<ListedDreps, DrepsUnknown>> | undefined;
  private readonly fetching = new Map<string, Promise<void>>();
  private readonly turns: OutsideTurns;
  private readonly texts = new Map<string, { readonly metadata: DrepMetadata | undefined; readonly at: number }>();

  constructor(private readonly options: DrepBookOptions) {
    this.turns = new OutsideTurns(options);
  }

  /** All registered representatives. */
  async all(): Promise<Result<ListedDreps, DrepsUnknown>> {
    const { freshMs = FRESH_MS } = this.options;
    if (this.list && performance.now() - this.list.at < freshMs) return ok(this.list.value);
    return await (this.query ??= this.queryAll().finally(() => this.query = undefined));
  }

  /** A registered representative as the ledger has it now; undefined where it is not registered. */
  async find(wanted: Credential): Promise<Result<DrepStatus | undefined, DrepsUnknown>> {
    const answer = await this.options.port.drepStatus([wanted]);
    return answer.ok ? ok(answer.value.value.find(({ registered }) => registered)) : answer;
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

  /** Fetches the metadata of anchors that is not cached; waits at most `mostMs` milliseconds for it. Never rejects. */
  async fetchMissing(anchors: readonly (DrepAnchor | undefined)[], mostMs: number): Promise<void> {
    const missing = anchors.flatMap((anchor) => anchor && this.isDue(anchor) ? [this.fetchOnce(anchor)] : []);
    if (missing.length > 0) await inTime(Promise.all(missing), mostMs);
  }

  private fetchOnce(anchor: DrepAnchor): Promise<void> {
    const key = keyOf(anchor);
    const known = this.fetching.get(key);
    if (known) return known;
    const fetched = this.turns.run(() => fetchDrepMetadata(anchor, this.options.fetch)).catch(() => undefined).then(
      (metadata) => {
        setBounded(this.texts, key, { metadata, at: performance.now() }, MOST_CACHED);
        this.fetching.delete(key);
      },
    );
    this.fetching.set(key, fetched);
    return fetched;
  }

  private isDue(anchor: DrepAnchor): boolean {
    const { retryMs = RETRY_MS } = this.options;
    const text = this.texts.get(keyOf(anchor));
    return text === undefined || (text.metadata === undefined && performance.now() - text.at >= retryMs);
  }
}

const keyOf = ({ url, hash }: DrepAnchor) => `${hash} ${url}`;
