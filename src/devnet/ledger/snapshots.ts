/**
 * Snapshots of the stake, read once: they name everybody who delegates, and change only with the epoch.
 *
 * Hypothesis: a row that was written again, be it with what it had before, names another transaction of the database as its writer.
 */
import type { Json } from "#src/base/json.ts";
import type { EntryChange } from "#src/devnet/ledger/changes.ts";
import { fromPlain } from "#src/devnet/ledger/plainJson.ts";
import type { Queries } from "#src/store/store.ts";

/** A row by its key, and the version of it: what tells whether it is still the same. */
export interface RowVersion {
  readonly key: string;
  readonly version: string;
}

export class Snapshots {
  readonly #kept = new Map<string, { readonly version: string; readonly change: EntryChange }>();

  /** The rows of some versions, as changes whose `after` is the row; undefined when they have changed since. */
  async of(sql: Queries, wanted: readonly RowVersion[]): Promise<EntryChange[] | undefined> {
    const missing = wanted.filter(({ key, version }) => this.#kept.get(key)?.version !== version).map(({ key }) => key);
    if (missing.length > 0) {
      const rows = await sql<{ key: string; version: string; value: Json }[]>`
        select key, xmin::text as version, value from devnet_entry
          where kind = 'snapshots' and key = any(${sql.array(missing)})`;
      for (const { key, version, value } of rows) {
        this.#kept.set(key, { version, change: { kind: "snapshots", key, after: fromPlain(value) } });
      }
      // what is neither wanted now nor new
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
