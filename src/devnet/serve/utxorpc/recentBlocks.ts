/**
 * The bytes of recent blocks. The devnet forgets a block that it undoes; clients that follow want to see it once more.
 */

/** Most bytes of blocks that are kept to be undone. */
const MOST_BYTES = 16_000_000;

/** Bytes of recent blocks, which all clients that follow share. */
export class RecentBlocks {
  readonly #blocks = new Map<string, Uint8Array>();
  #bytes = 0;
  #users = 0;

  constructor(private readonly most = MOST_BYTES) {}

  /** Keeps blocks until the returned function is called by the last user. */
  use(): () => void {
    this.#users++;
    return () => {
      if (--this.#users > 0) return;
      this.#blocks.clear();
      this.#bytes = 0;
    };
  }

  add(hash: string, bytes: Uint8Array): void {
    if (this.#blocks.has(hash)) return;
    this.#blocks.set(hash, bytes);
    this.#bytes += bytes.length;
    for (const [oldest, { length }] of this.#blocks) {
      if (this.#bytes <= this.most) break;
      this.#blocks.delete(oldest);
      this.#bytes -= length;
    }
  }

  get(hash: string): Uint8Array | undefined {
    return this.#blocks.get(hash);
  }
}
