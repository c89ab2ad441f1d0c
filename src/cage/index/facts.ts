/** The facts of the tokens that a block changes: rows in, a trie to check roots with, rows out. */
import { equalBytes, fromHex, toHex } from "#src/base/bytes.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Row, RowQuery, Rows, RowWrite } from "#src/cardano/projection.ts";
import { changeOf, type Operation } from "#src/cage/datum.ts";
import { Forestry, type Leaf } from "#src/forestry/trie.ts";

/** A token's facts before a change: how many there are, and whether the hashes of their sub-trees are kept. */
export interface FactsBefore {
  readonly token: string;
  readonly facts: number;
  readonly cut: boolean;
}

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

/** Facts of one token while a block is folded. */
class TokenFacts {
  private constructor(
    readonly token: string,
    private readonly stored: ReadonlyMap<string, Fact>,
    private readonly now: Map<string, Fact>,
    readonly trie: Forestry,
    public count: number,
  ) {}

  static of(token: string, rows: readonly Row[], count: number): TokenFacts {
    const stored = new Map(rows.map((row) => [row.path as string, factOf(row)]));
    return new TokenFacts(token, stored, new Map(stored), Forestry.from(leavesOf(rows)), count);
  }

  /** The same facts, to try a transaction's changes on. */
  copy(): TokenFacts {
    return new TokenFacts(this.token, this.stored, new Map(this.now), this.trie.copy(), this.count);
  }

  apply({ path, key, operation }: FactChange): Result<void, Failure> {
    const change = changeOf(key, operation);
    const done = change.type === "update"
      ? this.trie.update(change.path, change.old, change.value)
      : this.trie[change.type](change.path, change.value);
    if (!done.ok) return done;
    if (operation.type === "delete") this.now.delete(path);
    else this.now.set(path, { key, value: operation.value, digest: change.value });
    this.count += operation.type === "insert" ? 1 : operation.type === "delete" ? -1 : 0;
    return done;
  }

  *writes(): Generator<RowWrite> {
    for (const path of new Set([...this.stored.keys(), ...this.now.keys()])) {
      const before = this.stored.get(path);
      const after = this.now.get(path);
      if (before && after && equalBytes(before.value, after.value)) continue;
      const entry = `${this.token}:${path}`;
      if (before) yield { type: "close", table: "fact", key: { entry } };
      if (after) {
        const bucket = `${this.token}:${path.slice(0, 3)}`;
        yield { type: "insert", table: "fact", row: { entry, token: this.token, bucket, path, ...after } };
      }
    }
  }
}

function factOf(row: Row): Fact {
  const bytes = (value: unknown) => new Uint8Array(value as Uint8Array);
  return { key: bytes(row.key), value: bytes(row.value), digest: bytes(row.digest) };
}

/** Leaves of rows of `fact`. */
export function leavesOf(rows: readonly Row[]): Leaf[] {
  return rows.map((row) => ({ path: fromHex(row.path as string), value: new Uint8Array(row.digest as Uint8Array) }));
}

export class FactTable {
  private readonly rows = new Map<string, Row[]>();
  private readonly open = new Map<string, TokenFacts>();

  constructor(rows: Rows) {
    for (const row of rows.get("fact") ?? []) {
      const token = row.token as string;
      const known = this.rows.get(token);
      if (known) known.push(row);
      else this.rows.set(token, [row]);
    }
  }

  /** A token that this block boots: it has no facts. */
  begin(token: string): void {
    this.open.set(token, TokenFacts.of(token, [], 0));
  }

  /** Rows that are not here yet and that changes at these paths need. */
  missing(before: FactsBefore, _paths: readonly string[]): RowQuery[] {
    if (this.open.has(before.token) || (this.rows.get(before.token)?.length ?? 0) === before.facts) return [];
    return [{ table: "fact", column: "token", in: [before.token] }];
  }

  /** Applies a transaction's changes in order, if they lead to the root given; else says why not, and changes nothing. */
  apply(before: FactsBefore, changes: readonly FactChange[], root: string): Result<void, Failure> {
    const known = this.open.get(before.token) ??
      TokenFacts.of(before.token, this.rows.get(before.token) ?? [], before.facts);
    const facts = known.copy();
    for (const change of changes) {
      const done = facts.apply(change);
      if (!done.ok) return done;
    }
    if (toHex(facts.trie.root) !== root) return fail("root_differs", "the root is not the one that the requests give");
    this.open.set(before.token, facts);
    return ok(undefined);
  }

  /** How many facts a token has now, and whether the hashes of their sub-trees are kept. */
  sizeOf(before: FactsBefore): { facts: number; cut: boolean } {
    const facts = this.open.get(before.token);
    return { facts: facts?.count ?? before.facts, cut: before.cut };
  }

  /** What the block changes in rows. */
  *writes(): Generator<RowWrite> {
    for (const facts of this.open.values()) yield* facts.writes();
  }
}
