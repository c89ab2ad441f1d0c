/** The facts of the tokens that a block changes: rows in, a trie to check roots with, rows out. */
import { equalBytes, fromHex, toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { type Row, type RowQuery, type Rows, type RowWrite, unanswered } from "#src/cardano/projection.ts";
import { changeOf, type Operation } from "#src/cage/datum.ts";
import { bucketKeyOf, type FactsBefore, trieFrom, trieQueries } from "#src/cage/index/trie.ts";
import { changedBuckets, CUT_BYTES, cutOf } from "#src/forestry/cut.ts";
import { EMPTY } from "#src/forestry/hash.ts";
import { Forestry } from "#src/forestry/trie.ts";

/** A request to be applied. */
export interface FactChange {
  /** Digest of the key, in hexadecimal. */
  readonly path: string;
  readonly key: Uint8Array;
  readonly operation: Operation;
}

interface Fact {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly digest: Uint8Array;
}

/** Facts of one token while a block is folded: those that it may touch, and the trie of all. */
class TokenFacts {
  constructor(
    readonly token: string,
    /** Rows as they were before the block. */
    private readonly stored: ReadonlyMap<string, Fact>,
    private readonly now: Map<string, Fact>,
    readonly trie: Forestry,
    /** Hashes of sub-trees as they were before the block, where they were kept. */
    private readonly stone: Uint8Array | undefined,
    public count: number,
    private readonly cutAbove: number,
    /** Paths that changes have set or removed, also where the value is as it was before. */
    private readonly changed = new Set<string>(),
  ) {}

  /** The same facts, to try a transaction's changes on. */
  copy(): TokenFacts {
    return new TokenFacts(
      this.token,
      this.stored,
      new Map(this.now),
      this.trie.copy(),
      this.stone,
      this.count,
      this.cutAbove,
      new Set(this.changed),
    );
  }

  /** Whether the hashes of sub-trees are kept from now on; once they are, they stay. */
  get cut(): boolean {
    return this.stone !== undefined || this.count > this.cutAbove;
  }

  apply({ path, key, operation }: FactChange): Result<void, Failure> {
    const change = changeOf(key, operation);
    const done = change.type === "update"
      ? this.trie.update(change.path, change.old, change.value)
      : this.trie[change.type](change.path, change.value);
    if (!done.ok) return done;
    this.changed.add(path);
    if (operation.type === "delete") this.now.delete(path);
    else this.now.set(path, { key, value: operation.value, digest: change.value });
    this.count += operation.type === "insert" ? 1 : operation.type === "delete" ? -1 : 0;
    return done;
  }

  *writes(): Generator<RowWrite> {
    const { token } = this;
    for (const path of this.changed) {
      const before = this.stored.get(path);
      const after = this.now.get(path);
      const entry = `${token}:${path}`;
      if (before) yield { type: "close", table: "fact", key: { entry } };
      if (after) {
        const bucket = bucketKeyOf(token, fromHex(path));
        yield { type: "insert", table: "fact", row: { entry, token, bucket, path, ...after } };
      }
    }
    if (this.cut) yield* this.cutWrites();
  }

  private *cutWrites(): Generator<RowWrite> {
    const { token } = this;
    const before = this.stone ?? new Uint8Array(CUT_BYTES);
    const after = cutOf(this.trie);
    const hash = (cut: Uint8Array, bucket: number) => cut.slice(32 * bucket, 32 * bucket + 32);
    for (const bucket of changedBuckets(before, after)) {
      if (!equalBytes(hash(before, bucket), EMPTY)) {
        yield { type: "close", table: "token_bucket", key: { token, bucket } };
      }
      if (!equalBytes(hash(after, bucket), EMPTY)) {
        yield { type: "insert", table: "token_bucket", row: { token, bucket, hash: hash(after, bucket) } };
      }
    }
  }
}

function factOf(row: Row): Fact {
  const bytes = (value: unknown) => new Uint8Array(value as Uint8Array);
  return { key: bytes(row.key), value: bytes(row.value), digest: bytes(row.digest) };
}

export class FactTable {
  private readonly open = new Map<string, TokenFacts>();

  /** `paths` gives the digests (hexadecimal) of all keys of a token that the block may touch. */
  constructor(
    private readonly rows: Rows,
    private readonly paths: (token: string) => readonly string[],
    private readonly cutAbove: number,
  ) {}

  /** A token that this block boots: it has no facts. */
  begin(token: string): void {
    this.open.set(token, new TokenFacts(token, new Map(), new Map(), new Forestry(), undefined, 0, this.cutAbove));
  }

  /** Rows that are not here yet and that changes of a token need. */
  missing(before: FactsBefore): RowQuery[] {
    const { token, facts } = before;
    if (this.open.has(token) || facts === 0) return [];
    const paths = this.paths(token);
    const entries = paths.map((path) => `${token}:${path}`);
    return unanswered(this.rows, [
      { table: "fact", column: "entry", in: entries },
      ...trieQueries(this.rows, before, paths.map(fromHex)),
    ]);
  }

  /** Applies a transaction's changes in order, if they lead to the root given; else says why not, and changes nothing. */
  apply(before: FactsBefore, changes: readonly FactChange[], root: string): Result<void, Failure> {
    const loaded = this.load(before);
    if (!loaded.ok) return loaded;
    const facts = loaded.value.copy();
    for (const change of changes) {
      const done = facts.apply(change);
      if (!done.ok) return done;
    }
    if (toHex(facts.trie.root) !== root) return fail("root_differs", "the root is not the one that the requests give");
    this.open.set(before.token, facts);
    return ok(undefined);
  }

  private load(before: FactsBefore): Result<TokenFacts, Failure> {
    const { token } = before;
    const open = this.open.get(token);
    if (open) return ok(open);
    const paths = this.paths(token);
    const made = trieFrom(this.rows, before, paths.map(fromHex));
    if (!made.ok) return made;
    const { trie, cut } = made.value;
    const mine = (this.rows.get("fact") ?? []).filter((row) => row.token === token);
    const stored = new Map(mine.map((row) => [row.path as string, factOf(row)]));
    return ok(new TokenFacts(token, stored, new Map(stored), trie, cut, before.facts, this.cutAbove));
  }

  /** How many facts a token has now, and whether the hashes of their sub-trees are kept. */
  sizeOf(before: FactsBefore): { facts: number; cut: boolean } {
    const facts = this.open.get(before.token);
    return facts ? { facts: facts.count, cut: facts.cut } : { facts: before.facts, cut: before.cut };
  }

  /** What the block changes in rows. */
  *writes(): Generator<RowWrite> {
    for (const facts of this.open.values()) yield* facts.writes();
  }
}
