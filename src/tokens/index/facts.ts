/** Facts of the tokens that a block changes: loads them from rows, checks roots with a trie, and gives the rows to write. */
import { equalBytes, fromHex, toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { type Row, type RowQuery, type Rows, type RowWrite, unanswered } from "#src/chain/index/projection.ts";
import { changeOf, type Operation } from "#src/contract/datum.ts";
import { bytes, text } from "#src/tokens/index/rows.ts";
import { bucketKeyOf, type FactsBefore, trieFrom, trieQueries } from "#src/tokens/index/trie.ts";
import { changedBuckets, CUT_BYTES, cutOf } from "#src/forestry/cut.ts";
import { EMPTY } from "#src/forestry/hash.ts";
import { Forestry } from "#src/forestry/trie.ts";

/** A request's change of one fact. */
interface FactChange {
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

/** Facts of one token during the fold of a block: the facts that the block may change, and the trie of all facts. */
class TokenFacts {
  constructor(
    readonly token: string,
    /** Rows as they were before the block. */
    private readonly stored: ReadonlyMap<string, Fact>,
    private readonly current: Map<string, Fact>,
    readonly trie: Forestry,
    /** The cut (sub-tree hashes) before the block, if it was stored. */
    private readonly storedCut: Uint8Array | undefined,
    public count: number,
    private readonly cutAbove: number,
    /** Changed paths, including those whose value ends as it was before the block. */
    private readonly changed = new Set<string>(),
  ) {}

  /** A copy, to try a transaction's changes on. */
  copy(): TokenFacts {
    return new TokenFacts(
      this.token,
      this.stored,
      new Map(this.current),
      this.trie.copy(),
      this.storedCut,
      this.count,
      this.cutAbove,
      new Set(this.changed),
    );
  }

  /** Whether the cut is stored from now on. Once stored, it stays stored. */
  get cut(): boolean {
    return this.storedCut !== undefined || this.count > this.cutAbove;
  }

  apply({ path, key, operation }: FactChange): Result<void, Failure> {
    const change = changeOf(key, operation);
    const done = this.trie.change(change);
    if (!done.ok) return done;
    this.changed.add(path);
    if (operation.type === "delete") this.current.delete(path);
    else this.current.set(path, { key, value: operation.value, digest: change.value });
    this.count += operation.type === "insert" ? 1 : operation.type === "delete" ? -1 : 0;
    return done;
  }

  *writes(): Generator<RowWrite> {
    const { token } = this;
    for (const path of this.changed) {
      const before = this.stored.get(path);
      const after = this.current.get(path);
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
    const before = this.storedCut ?? new Uint8Array(CUT_BYTES);
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
  return { key: bytes(row, "key"), value: bytes(row, "value"), digest: bytes(row, "digest") };
}

/** Facts of all tokens that one block changes. */
export class FactTable {
  private readonly loaded = new Map<string, TokenFacts>();

  /** `paths` gives the digests (hexadecimal) of all keys of a token that the block may touch. */
  constructor(
    private readonly rows: Rows,
    private readonly paths: (token: string) => readonly string[],
    private readonly cutAbove: number,
  ) {}

  /** Adds a token that this block boots; it has no facts. */
  addEmpty(token: string): void {
    this.loaded.set(token, new TokenFacts(token, new Map(), new Map(), new Forestry(), undefined, 0, this.cutAbove));
  }

  /** Queries for rows that a token's changes need and that are not loaded yet. */
  missing(before: FactsBefore): RowQuery[] {
    const { token, facts } = before;
    if (this.loaded.has(token) || facts === 0) return [];
    const paths = this.paths(token);
    const entries = paths.map((path) => `${token}:${path}`);
    return unanswered(this.rows, [
      { table: "fact", column: "entry", in: entries },
      ...trieQueries(this.rows, before, paths.map(fromHex)),
    ]);
  }

  /** Applies a transaction's changes in order if they lead to `root`; otherwise fails with the reason and changes nothing. */
  apply(before: FactsBefore, changes: readonly FactChange[], root: string): Result<void, Failure> {
    const found = this.load(before);
    if (!found.ok) return found;
    const facts = found.value.copy();
    for (const change of changes) {
      const done = facts.apply(change);
      if (!done.ok) return done;
    }
    if (toHex(facts.trie.root) !== root) return fail("root_differs", "the root does not result from the requests");
    this.loaded.set(before.token, facts);
    return ok(undefined);
  }

  private load(before: FactsBefore): Result<TokenFacts, Failure> {
    const { token } = before;
    const loaded = this.loaded.get(token);
    if (loaded) return ok(loaded);
    const paths = this.paths(token);
    const made = trieFrom(this.rows, before, paths.map(fromHex));
    if (!made.ok) return made;
    const { trie, cut } = made.value;
    const rowsOfToken = (this.rows.get("fact") ?? []).filter((row) => row.token === token);
    const stored = new Map(rowsOfToken.map((row) => [text(row, "path"), factOf(row)]));
    return ok(new TokenFacts(token, stored, new Map(stored), trie, cut, before.facts, this.cutAbove));
  }

  /** The current number of a token's facts, and whether their cut is stored. */
  sizeOf(before: FactsBefore): { facts: number; cut: boolean } {
    const facts = this.loaded.get(before.token);
    return facts ? { facts: facts.count, cut: facts.cut } : { facts: before.facts, cut: before.cut };
  }

  /** The row changes of the block. */
  *writes(): Generator<RowWrite> {
    for (const facts of this.loaded.values()) yield* facts.writes();
  }
}
