/**
 * Proofs of the forestry, followed on the ledger.
 *
 * One walk over a proof computes two roots of every sub-trie: `before`, without the element (insert, delete) or with its old
 * value (update), and `after`, with the element or with its new value. If one of the two is the root that the token has, the
 * other is the one it gets (or the reverse, when deleting).
 *
 * Why no other trie than the token's can lead to its root. Every hash on the way is over bytes of a length and a first byte
 * that tell what they are, provided that the parts have the sizes they should:
 * a leaf is 0xff (or 0x00 and a nibble), the rest of its 32-byte path, a 32-byte value; a branch is nibbles, each one byte
 * under 16, and a 32-byte root; an inner node of the binary tree over 16 slots is two times 32 bytes. So going down from a true
 * root, each step can only show what is there. Each check below keeps one size or range, and each was once missing somewhere:
 *
 * - `skip` is not negative: else a slot is taken by a nibble that was used already;
 * - a branch has four siblings of 32 bytes;
 * - a fork's slot is one of 16 and not the element's, its prefix is nibbles, its root is 32 bytes: else a leaf is shown as a
 *   branch (0xff as a slot), and lost;
 * - a leaf has a path and a value of 32 bytes, and shares the element's path down to the branch: else a branch is shown as a
 *   leaf, or a leaf is moved to where it is not found again.
 */
import { concat } from "#src/base/bytes.ts";
import { EMPTY, EMPTY_TREES } from "#src/forestry/hash.ts";
import * as u from "#src/cage/uplc/builtin.ts";
import {
  and,
  bind,
  bool,
  branch,
  bytes,
  call,
  check,
  checkAll,
  choose,
  fn,
  forms,
  ifEmpty,
  int,
  recursive,
  refuse,
  tuple,
  untuple,
} from "#src/cage/uplc/expression.ts";
import { asBytes, asData, asInt, record } from "#src/cage/uplc/record.ts";
import type { Bool, Bytes, Data, Expr, Fn, Int, List, Tuple } from "#src/cage/uplc/term.ts";

/** Root before, root after. */
export type Roots = Tuple<[Bytes, Bytes]>;
/**
 * (path, nibbles of it above the sub-trie, digest of the old value or no bytes, digest of the new value, proof) to both roots of the sub-trie; with
 * no nibbles above it, it is the trie.
 */
export type Follow = Expr<Fn<[Bytes, Int, Bytes, Bytes, List<Data>], Roots>>;

const Branch = record({ skip: asInt, neighbors: asBytes });
const Fork = record({ skip: asInt, neighbor: asData });
const Neighbor = record({ nibble: asInt, prefix: asBytes, root: asBytes });
const Leaf = record({ skip: asInt, key: asBytes, value: asBytes });

export const none = bytes(new Uint8Array(0));
/** Siblings of a slot when all other slots are empty: roots of empty trees over 8, 4, 2 and 1 slots. */
const emptySiblings = bytes(concat(...EMPTY_TREES.slice(0, 4).toReversed()));

function hash(left: Expr<Bytes>, right: Expr<Bytes>): Expr<Bytes> {
  return u.blake2b(u.append(left, right));
}
function isEven(n: Expr<Int>): Expr<Bool> {
  return u.equalInts(u.modulo(n, int(2)), int(0));
}
function half(n: Expr<Int>): Expr<Int> {
  return u.divide(n, int(2));
}
function next(n: Expr<Int>): Expr<Int> {
  return u.add(n, int(1));
}

/** Functions over paths. */
interface Paths {
  /** Nibble `i` of a path. */
  readonly nibble: Expr<Fn<[Bytes, Int], Int>>;
  /** Nibbles `from` to `to` (exclusive) of a path, one a byte. */
  readonly nibbles: Expr<Fn<[Bytes, Int, Int], Bytes>>;
  /** What a leaf hashes for its path from a nibble on. */
  readonly suffix: Expr<Fn<[Bytes, Int], Bytes>>;
}

function withPaths<R>(body: (paths: Paths) => Expr<R>): Expr<R> {
  const nibble = fn<[Bytes, Int], Int>((path, i) =>
    bind([u.byteAt(path, half(i))], (byte) => choose(isEven(i), u.divide(byte, int(16)), u.modulo(byte, int(16))))
  );
  const suffix = fn<[Bytes, Int], Bytes>((path, from) =>
    bind([half(from)], (i) =>
      choose(
        isEven(from),
        u.prepend(int(255), u.slice(i, int(32), path)),
        u.prepend(
          int(0),
          u.prepend(u.modulo(u.byteAt(path, i), int(16)), u.slice(next(i), int(32), path)),
        ),
      ))
  );
  return bind([nibble], (nibble) =>
    bind([
      recursive<[Bytes, Int, Int], Bytes>((self) =>
        fn((path, from, to) =>
          choose(u.lessOrEqual(to, from), none, u.prepend(call(nibble, path, from), self(path, next(from), to)))
        )
      ),
      suffix,
    ], (nibbles, suffix) => body({ nibble, nibbles, suffix })));
}

/**
 * Siblings of `slot` when the only other occupied slot is `other`, which holds `hash`. Going up from the slots, the other's
 * hash is joined with empty trees until it stands beside the slot's own; `offset` is where the level's sibling stands. Fails
 * when `other` is none of the 16, since then the two never come to stand side by side. That they differ is for the caller.
 */
const sparse = recursive<[Int, Int, Bytes, Int], Bytes>((self) =>
  fn((slot, other, hashed, offset) =>
    check(
      u.lessOrEqual(int(0), offset),
      "proof: no such slot",
      bind([half(slot), half(other)], (slotAbove, otherAbove) =>
        choose(
          u.equalInts(slotAbove, otherAbove),
          u.append(
            u.slice(int(0), offset, emptySiblings),
            u.append(hashed, u.slice(u.add(offset, int(32)), int(96), emptySiblings)),
          ),
          bind([u.slice(offset, int(32), emptySiblings)], (empty) =>
            self(
              slotAbove,
              otherAbove,
              choose(isEven(other), hash(hashed, empty), hash(empty, hashed)),
              u.subtract(offset, int(32)),
            )),
        )),
    )
  )
);

/** Whether every byte is a nibble. */
const allNibbles = recursive<[Bytes], Bool>((self) =>
  fn((prefix) =>
    choose(
      u.equalBytes(prefix, none),
      bool(true),
      and(u.less(u.byteAt(prefix, int(0)), int(16)), self(u.slice(int(1), int(64), prefix))),
    )
  )
);

/** Both roots of the binary tree over 16 slots, out of both hashes of one slot and its siblings. */
function fold(slot: Expr<Int>, siblings: Expr<Bytes>, roots: Expr<Roots>): Expr<Roots> {
  return forms(() => foldHalving(slot, siblings, roots), () => foldByTable(slot, siblings, roots));
}

/** Both hashes of a node of the tree, out of those of one of its children; `isLeft` chooses by which one it is. */
function joined(
  roots: Expr<Roots>,
  siblings: Expr<Bytes>,
  level: number,
  isLeft: (left: Expr<Roots>, right: Expr<Roots>) => Expr<Roots>,
  then: (roots: Expr<Roots>) => Expr<Roots>,
): Expr<Roots> {
  return untuple(
    roots,
    (before, after) =>
      bind([u.slice(int(96 - 32 * level), int(32), siblings)], (sibling) =>
        then(isLeft(
          tuple<[Bytes, Bytes]>(hash(before, sibling), hash(after, sibling)),
          tuple<[Bytes, Bytes]>(hash(sibling, before), hash(sibling, after)),
        ))),
  );
}

/** The slot is halved from level to level. */
function foldHalving(slot: Expr<Int>, siblings: Expr<Bytes>, roots: Expr<Roots>, level = 0): Expr<Roots> {
  return joined(
    roots,
    siblings,
    level,
    (left, right) => choose(isEven(slot), left, right),
    (roots) => level === 3 ? roots : bind([half(slot)], (above) => foldHalving(above, siblings, roots, level + 1)),
  );
}

/** Which child of a level each slot is below, 0 or 1, is looked up. */
function foldByTable(slot: Expr<Int>, siblings: Expr<Bytes>, roots: Expr<Roots>, level = 0): Expr<Roots> {
  if (level === 4) return roots;
  const sides = bytes(Uint8Array.from({ length: 16 }, (_, slot) => (slot >> level) & 1));
  return joined(
    roots,
    siblings,
    level,
    (left, right) => branch(u.byteAt(sides, slot), left, right),
    (roots) => foldByTable(slot, siblings, roots, level + 1),
  );
}

/** Binds the function that follows a proof around a part of the script. */
export function withFollow<R>(body: (follow: Follow) => Expr<R>): Expr<R> {
  return withPaths((paths) =>
    bind([sparse, allNibbles], (sparse, allNibbles) =>
      bind([
        fn<[Bytes, Int, Bytes, Bytes, List<Data>], Roots>((path, above, old, value, proof) => {
          const walk = recursive<[Int, List<Data>], Roots>((self) =>
            fn((cursor, steps) =>
              ifEmpty(
                steps,
                leafRoots(paths, path, cursor, old, value),
                step({ ...paths, sparse, allNibbles }, path, old, cursor, steps, self),
              )
            )
          );
          return call(walk, above, proof);
        }),
      ], (follow) => body(follow)))
  );
}

/** Where the proof ends: nothing or the old value before, the new value after. */
function leafRoots(
  { suffix }: Paths,
  path: Expr<Bytes>,
  cursor: Expr<Int>,
  old: Expr<Bytes>,
  value: Expr<Bytes>,
): Expr<Roots> {
  return bind(
    [call(suffix, path, cursor)],
    (rest) => tuple<[Bytes, Bytes]>(choose(u.equalBytes(old, none), bytes(EMPTY), hash(rest, old)), hash(rest, value)),
  );
}

interface Tools extends Paths {
  readonly sparse: Expr<Fn<[Int, Int, Bytes, Int], Bytes>>;
  readonly allNibbles: Expr<Fn<[Bytes], Bool>>;
}

/** One step of a proof. It is one function of over 80 lines because it is one expression: its parts share the names that it binds. */
function step(
  tools: Tools,
  path: Expr<Bytes>,
  old: Expr<Bytes>,
  cursor: Expr<Int>,
  steps: Expr<List<Data>>,
  self: (cursor: Expr<Int>, steps: Expr<List<Data>>) => Expr<Roots>,
): Expr<Roots> {
  const { nibble, nibbles, suffix, sparse, allNibbles } = tools;
  return bind(
    [u.unConstr(u.head(steps)), u.tail(steps)],
    (constr, rest) =>
      bind(
        [u.first(constr), u.second(constr)],
        (kind, fields) =>
          bind([Branch.get.skip(Branch.of(fields))], (skip) =>
            check(
              u.lessOrEqual(int(0), skip),
              "proof: negative skip",
              bind([u.add(cursor, skip)], (at) =>
                bind([call(nibble, path, at)], (slot) => {
                  const prefix = call(nibbles, path, cursor, at);
                  const branchRoots = fn<[Bytes], Roots>((siblings) =>
                    untuple(fold(slot, siblings, self(next(at), rest)), (before, after) =>
                      choose(
                        u.equalInts(skip, int(0)),
                        tuple<[Bytes, Bytes]>(u.blake2b(before), u.blake2b(after)),
                        bind([prefix], (prefix) => tuple<[Bytes, Bytes]>(hash(prefix, before), hash(prefix, after))),
                      ))
                  );
                  return bind([branchRoots], (branchRoots) => {
                    /** A branch with one neighbour; without the element, that neighbour stands in the branch's place. */
                    const single = (other: Expr<Int>, hashed: Expr<Bytes>, alone: Expr<Bytes>): Expr<Roots> =>
                      bind([other], (other) =>
                        refuse(
                          u.equalInts(slot, other),
                          "proof: the neighbour is in the element's own slot",
                          untuple(call(branchRoots, call(sparse, slot, other, hashed, int(96))), (before, after) =>
                            tuple<[Bytes, Bytes]>(
                              choose(and(u.isEmpty(rest), u.equalBytes(old, none)), alone, before),
                              after,
                            )),
                        ));
                    const asFork = bind([Neighbor.open(Fork.raw.neighbor(Fork.of(fields)))], (neighbor) =>
                      bind(
                        [Neighbor.get.nibble(neighbor), Neighbor.get.prefix(neighbor), Neighbor.get.root(neighbor)],
                        (other, below, root) =>
                          checkAll(
                            [
                              [u.equalInts(u.length(root), int(32)), "proof: a fork's root is not 32 bytes"],
                              [call(allNibbles, below), "proof: a fork's prefix is not nibbles"],
                            ],
                            single(other, hash(below, root), hash(u.append(prefix, u.prepend(other, below)), root)),
                          ),
                      ));
                    const leaf = Leaf.of(fields);
                    const asLeaf = bind([Leaf.get.key(leaf), Leaf.get.value(leaf)], (key, value) =>
                      checkAll(
                        [
                          [u.equalInts(u.length(key), int(32)), "proof: a leaf's path is not 32 bytes"],
                          [u.equalInts(u.length(value), int(32)), "proof: a leaf's value is not 32 bytes"],
                          [u.equalBytes(call(nibbles, key, cursor, at), prefix), "proof: a leaf of another path"],
                        ],
                        single(
                          call(nibble, key, at),
                          hash(call(suffix, key, next(at)), value),
                          hash(call(suffix, key, cursor), value),
                        ),
                      ));
                    const asBranch = bind([Branch.get.neighbors(Branch.of(fields))], (siblings) =>
                      check(
                        u.equalInts(u.length(siblings), int(128)),
                        "proof: not four siblings",
                        call(branchRoots, siblings),
                      ));
                    return choose(
                      u.equalInts(kind, int(0)),
                      asBranch,
                      choose(
                        u.equalInts(kind, int(1)),
                        asFork,
                        check(u.equalInts(kind, int(2)), "proof: no such step", asLeaf),
                      ),
                    );
                  });
                })),
            )),
      ),
  );
}
