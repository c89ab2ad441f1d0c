/** Keeps the log up to date while this process follows the chain. */
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import type { Queries, Store } from "#src/store/store.ts";
import { appendFinal, ensureCheckpoint, hasFinal, type Snapshots } from "#src/tokens/log/append.ts";
import { logSigner } from "#src/tokens/log/keys.ts";
import { appendSeconds } from "#src/tokens/log/metrics.ts";
import type { LogSettings } from "#src/tokens/log/settings.ts";

export interface LogWriterOptions {
  readonly store: Store;
  readonly networkMagic: number;
  readonly settings: LogSettings;
  readonly snapshots?: Snapshots | undefined;
  /** Throws inside a transaction when the follower's lease is no longer held. */
  readonly fence: (sql: Queries) => Promise<void>;
  readonly log: Log;
  /** Called after each new checkpoint. */
  readonly onCheckpoint?: () => void;
}

const RETRY_MS = [100, 500, 2_000, 10_000];

export class LogWriter {
  #wake: () => void = () => {};

  constructor(private readonly options: LogWriterOptions) {}

  /** Says that the index has moved. */
  wake(): void {
    this.#wake();
  }

  /** Appends what becomes final until the signal aborts. An interruption is retried; the log is then behind, never wrong. */
  async run(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => this.#wake(), { once: true });
    let isSigned = false;
    for (let failures = 0; !signal.aborted;) {
      const woken = new Promise<void>((resolve) => this.#wake = resolve);
      try {
        if (!isSigned) await this.#sign();
        isSigned = true;
        const more = await this.#append();
        failures = 0;
        if (!more && !signal.aborted) await woken;
      } catch (error) {
        if (signal.aborted) return;
        this.options.log.warn("the log of tokens is interrupted", { reason: reason(error) });
        await sleep(RETRY_MS[failures++] ?? 10_000, signal);
      }
    }
  }

  async #sign(): Promise<void> {
    const signer = await this.#signer();
    await this.options.store.sql.begin(async (sql) => {
      await this.options.fence(sql);
      await ensureCheckpoint(sql, signer);
    });
    this.options.onCheckpoint?.();
  }

  async #append(): Promise<boolean> {
    const { store, fence, settings: { depth }, networkMagic, snapshots } = this.options;
    if (!await hasFinal(store.sql, { depth, snapshots })) return false;
    const signer = await this.#signer();
    const start = performance.now();
    const { added, more } = await store.sql.begin(async (sql) => {
      await fence(sql);
      return await appendFinal(sql, { net: networkMagic, depth, signer, snapshots });
    });
    appendSeconds.of().since(start);
    if (added > 0) this.options.onCheckpoint?.();
    return more;
  }

  #signer() {
    return logSigner(this.options.store.sql, this.options.networkMagic, this.options.settings);
  }
}
