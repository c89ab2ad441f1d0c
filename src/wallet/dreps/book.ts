/**
 * The representatives of a network, and what they say of themselves: the first asked for every 15 seconds at the most, for it goes through much
 * of a network's state; the second fetched when somebody wants it, kept by its hash, and tried again an hour after it could not be had.
 */
import { ok, type Result } from "#src/base/result.ts";
import { type DrepMetadata, fetchDrepMetadata } from "#src/wallet/dreps/metadata.ts";
import type { DrepAnchor, DrepsPort, DrepsUnknown, ListedDreps } from "#src/wallet/dreps/types.ts";
import type { FetchOptions } from "#src/wallet/outside/fetch.ts";

export interface DrepBookOptions {
  readonly port: DrepsPort;
  readonly fetch: Omit<FetchOptions, "body" | "maxBytes">;
  /** Milliseconds for which an answer of the network is used. */
  readonly freshMs?: number;
}

const FRESH_MS = 15_000;
const AGAIN_MS = 3_600_000;
/** Servers that are asked at a time. */
const AT_ONCE = 8;
/** Most texts that are kept. */
const MOST_KEPT = 5_000;

export class DrepBook {
  private held: { readonly at: number; readonly value: ListedDreps } | undefined;
  private asking: Promise<Result<ListedDreps, DrepsUnknown>> | undefined;
  private readonly texts = new Map<string, { readonly metadata: DrepMetadata | undefined; readonly at: number }>();

  constructor(private readonly options: DrepBookOptions) {}

  /** All that are registered. */
  async all(): Promise<Result<ListedDreps, DrepsUnknown>> {
    const { freshMs = FRESH_MS } = this.options;
    if (this.held && performance.now() - this.held.at < freshMs) return ok(this.held.value);
    return await (this.asking ??= this.ask().finally(() => this.asking = undefined));
  }

  private async ask(): Promise<Result<ListedDreps, DrepsUnknown>> {
    const answer = await this.options.port.dreps();
    if (!answer.ok) return answer;
    const { value } = answer.value;
    this.held = { at: performance.now(), value };
    return ok(value);
  }

  /** What is known already of whoever has this anchor. */
  known(anchor: DrepAnchor | undefined): DrepMetadata | undefined {
    return anchor && this.texts.get(keyOf(anchor))?.metadata;
  }

  /** Fetches what is not known of some, for so many milliseconds at the most. */
  async learn(anchors: readonly (DrepAnchor | undefined)[], mostMs: number): Promise<void> {
    const queue = anchors.filter((anchor) => anchor !== undefined).filter((anchor) => this.isDue(anchor));
    if (queue.length === 0) return;
    const late = AbortSignal.timeout(mostMs);
    const work = async () => {
      for (let one = queue.shift(); one && !late.aborted; one = queue.shift()) {
        const metadata = await fetchDrepMetadata(one, { ...this.options.fetch, signal: late });
        if (metadata === undefined && late.aborted) return;
        if (this.texts.size >= MOST_KEPT) this.texts.delete(this.texts.keys().next().value!);
        this.texts.set(keyOf(one), { metadata, at: performance.now() });
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, queue.length) }, work));
  }

  private isDue(anchor: DrepAnchor): boolean {
    const text = this.texts.get(keyOf(anchor));
    return text === undefined || (text.metadata === undefined && performance.now() - text.at > AGAIN_MS);
  }
}

const keyOf = ({ url, hash }: DrepAnchor) => `${hash} ${url}`;
