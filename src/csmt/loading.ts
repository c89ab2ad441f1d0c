/** A tree that is loaded row by row, as its operations need them. */
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

/** Half-bytes of a key whose rows are read at once, before it is known which there are: those of some million outputs. */
const AHEAD = 7;

/** Keys whose rows are read so, at most. */
const MOST_AHEAD = 1_000;

export class LoadedTree {
  readonly #rows = new Map<string, Uint8Array>();
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
    const rows = rowsOf(this.#top);
    const written = new Map([...rows].filter(([name, bytes]) => {
      const before = this.#rows.get(name);
      return !before || !equalBytes(before, bytes);
    }));
    return { written, deleted: [...this.#rows.keys()].filter((name) => !rows.has(name)) };
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

  /** Adds rows to what is loaded. */
  add(rows: ReadonlyMap<string, Uint8Array>): void {
    if (this.#top) this.#top = this.#grow(this.#top, rows);
  }

  /** Loads what is on the paths of keys. */
  async #loadPaths(keys: readonly Uint8Array[]): Promise<void> {
    if (keys.length <= MOST_AHEAD) await this.#loadAhead(keys);
    for (;;) {
      const missing = new Set(keys.flatMap((key) => {
        const stub = stubOn(this.#top, key);
        return stub ? [rowOf(stub)] : [];
      }));
      if (missing.size === 0) return;
      await this.#load([...missing]);
    }
  }

  async #loadAhead(keys: readonly Uint8Array[]): Promise<void> {
    const names = new Set<string>();
    for (const key of keys) {
      const stub = stubOn(this.#top, key);
      if (!stub) continue;
      const name = rowOf({ path: key, end: 4 * AHEAD });
      for (let { length } = rowOf(stub); length <= AHEAD; length++) names.add(name.slice(0, length));
      names.add(rowOf(stub));
    }
    if (names.size > 0) await this.#load([...names]);
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
      this.#rows.set(name, bytes);
      return this.#grow(readRow(name, bytes), rows);
    }
    if (!(node instanceof Branch)) return node;
    const left = this.#grow(node.left, rows);
    const right = this.#grow(node.right, rows);
    return left === node.left && right === node.right ? node : new Branch(node.end, left, right, node.value);
  }
}
