/**
 * A tree that is loaded row by row, as its operations need them. A row that is missing, cannot be read or is not the one that
 * the tree had is a `RangeError`.
 */
import { equalBytes } from "#src/base/bytes.ts";
import { Branch, type Node, rootOf, Stub } from "#src/csmt/node.ts";
import { readRow, readTop, rowOf, rowsOf, stubOn } from "#src/csmt/rows.ts";
import { type Element, insert, MissingSubtree, remove } from "#src/csmt/tree.ts";

/** Reads rows by their names; those that there are none of are left out. */
export type ReadRows = (names: readonly string[]) => Promise<ReadonlyMap<string, Uint8Array>>;

/** Elements to add and keys to remove. No key is in both. */
export interface TreeChanges {
  readonly added: readonly Element[];
  readonly removed: readonly Uint8Array[];
}

/** Rows that a changed tree has other than those it was loaded from. */
export interface ChangedRows {
  readonly written: ReadonlyMap<string, Uint8Array>;
  readonly deleted: readonly string[];
}

export class LoadedTree {
  /** The rows that were loaded, and where the part of the path of each one's branch ended. */
  readonly #rows = new Map<string, number>();
  #top: Node | undefined;

  /** `top` is as `topBytes` gives it. */
  constructor(top: Uint8Array, private readonly read: ReadRows) {
    this.#top = readTop(top);
  }

  get top(): Node | undefined {
    return this.#top;
  }

  /** Undefined for the empty tree. */
  get root(): Uint8Array | undefined {
    return rootOf(this.#top);
  }

  /** Changes the tree. @throws RangeError if a key to remove is not there */
  async change({ added, removed }: TreeChanges): Promise<void> {
    await this.#loadPaths([...added.map(({ key }) => key), ...removed]);
    let top = this.#top;
    for (const key of removed) top = remove(top, key);
    for (const element of added) top = insert(top, element);
    this.#top = top;
  }

  /** How the rows of the tree differ from those that it was loaded from. */
  changedRows(): ChangedRows {
    const { rows, kept } = rowsOf(this.#top, this.#rows);
    const isKept = (name: string) => {
      for (let length = 0; length <= name.length; length++) if (kept.has(name.slice(0, length))) return true;
      return false;
    };
    return { written: rows, deleted: [...this.#rows.keys()].filter((name) => !rows.has(name) && !isKept(name)) };
  }

  /** Runs an operation that throws `MissingSubtree`, loading what it needs. */
  async run<T>(operation: (top: Node | undefined) => T): Promise<T> {
    for (;;) {
      try {
        return operation(this.#top);
      } catch (error) {
        if (!(error instanceof MissingSubtree)) throw error;
        await this.#load([rowOf(error.stub)]);
      }
    }
  }

  /** Adds rows to what is loaded; those that are not below what is loaded have no effect. */
  add(rows: ReadonlyMap<string, Uint8Array>): void {
    if (this.#top) this.#top = this.#grow(this.#top, rows);
  }

  /** Loads what is on the paths of keys. */
  async #loadPaths(keys: readonly Uint8Array[]): Promise<void> {
    for (;;) {
      const missing = new Set(keys.flatMap((key) => {
        const stub = stubOn(this.#top, key);
        return stub ? [rowOf(stub)] : [];
      }));
      if (missing.size === 0) return;
      await this.#load([...missing]);
    }
  }

  async #load(names: readonly string[]): Promise<void> {
    const rows = await this.read(names);
    const before = this.#rows.size;
    this.add(rows);
    if (this.#rows.size === before) throw new RangeError(`the tree has no row ${names.join(", ")}`);
  }

  /** The node with stubs replaced by their rows; nodes without such a stub below stay the same. */
  #grow(node: Node, rows: ReadonlyMap<string, Uint8Array>): Node {
    if (node instanceof Stub) {
      const name = rowOf(node);
      const bytes = rows.get(name);
      if (!bytes) return node;
      const branch = readRow(bytes);
      if (branch.end !== node.end || !equalBytes(branch.value, node.value)) {
        throw new RangeError(`the row ${name} is of another tree`);
      }
      this.#rows.set(name, branch.end);
      return this.#grow(branch, rows);
    }
    if (!(node instanceof Branch)) return node;
    return node.with(this.#grow(node.left, rows), this.#grow(node.right, rows));
  }
}
