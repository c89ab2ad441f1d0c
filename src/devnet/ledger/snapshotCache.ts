/**
 * A cache of stake snapshots: they are large, since they list every delegator, and change only with the epoch.
 *
 * Assumption: a row that was written again, even with the same value, has another `xmin`.
 */
import type { Json } from "#src/base/json.ts";
import type { EntryChange } from "#src/devnet/ledger/changes.ts";
import { fromPlain } from "#src/devnet/ledger/plainJson.ts";
import type { Queries } from "#src/store/store.ts";

/** The key and version of a row; the version changes with every write. */
export interface RowVersion {
  readonly key: string;
  readonly version: string;
}

export class SnapshotCache {
  readonly #kept = new Map<string, { readonly version: string; readonly change: EntryChange }>();

  /** The rows of these versions, as changes with the row as `after`; undefined if they have changed since. */
  async of(sql: Queries, wanted: readonly RowVersion[]): Promise<EntryChange[] | undefined> {
    const missing = wanted.filter(({ key, version }) => this.#kept.get(key)?.version !== version).map(({ key }) => key);
    if (missing.length > 0) {
      const rows = await sql<{ key: string; version: string; value: Json }[]>`
        select key, xmin::text as version, value from devnet_entry
          where kind = 'snapshots' and key = any(${sql.array(missing)})`;
      for (const { key, version, value } of rows) {
        this.#kept.set(key, { version, change: { kind: "snapshots", key, after: fromPlain(value) } });
      }
      // drop what is not wanted any more
      const keep = new Set(wanted.map(({ key }) => key));
      for (const key of this.#kept.keys()) if (!keep.has(key)) this.#kept.delete(key);
    }
    const found = wanted.map(({ key, version }) => {
      const kept = this.#kept.get(key);
      return kept?.version === version ? kept.change : undefined;
    });
    return found.every((change) => change !== undefined) ? found : undefined;
  }
}
