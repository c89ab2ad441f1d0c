/** Locks of rows, held by the statements of turns that have begun and not ended. */

export class RowLocks {
  readonly #shared = new Map<number, number>();
  readonly #rows = new Map<string, object>();

  /** Locks the rows of partitions FOR KEY SHARE. */
  share(partitions: Iterable<number>): void {
    for (const id of partitions) this.#shared.set(id, (this.#shared.get(id) ?? 0) + 1);
  }

  unshare(partitions: Iterable<number>): void {
    for (const id of partitions) this.#shared.set(id, (this.#shared.get(id) ?? 0) - 1);
  }

  /** Whether a partition's epoch cannot be raised now. */
  isShared(partition: number): boolean {
    return (this.#shared.get(partition) ?? 0) > 0;
  }

  /** Locks rows for a holder, all or none; returns whether it did. */
  take(keys: readonly string[], holder: object): boolean {
    if (keys.some((key) => this.#rows.has(key) && this.#rows.get(key) !== holder)) return false;
    for (const key of keys) this.#rows.set(key, holder);
    return true;
  }

  release(keys: readonly string[], holder: object): void {
    for (const key of keys) if (this.#rows.get(key) === holder) this.#rows.delete(key);
  }

  isLocked(key: string): boolean {
    return this.#rows.has(key);
  }
}

/** The name of a row in `RowLocks`. */
export function rowKey(
  table: "actor" | "effect" | "command_result" | "input_log",
  ...key: readonly (string | number)[]
): string {
  return [table, ...key].join("\0");
}
