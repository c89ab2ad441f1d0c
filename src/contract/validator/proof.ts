/**
 * Verifies proofs of the trie on the ledger.
 *
 * One walk over a proof computes two roots of every sub-trie: `before`, without the element (insert, delete) or with its old
 * value (update), and `after`, with the element or with its new value. If one of the two is the root that the token has, the
 * other is the one it gets (or the reverse, when deleting).
 *
 * Why only the token's trie can lead to its root: if all parts have the right sizes, the length and the first byte of the
 * hashed bytes determine what they are. A leaf is 0xff (or 0x00 and a nibble), the rest of its 32-byte path, and a 32-byte
 * value. A branch is nibbles (bytes below 16) and a 32-byte root. An inner node of the binary tree over 16 slots is 2 × 32
 * bytes. So from a true root downwards, each step can only show the actual content. Each check below enforces one size or
 * range, and each was once missing in some implementation:
 *
 * - `skip` is not negative; otherwise a nibble that was already used could select a slot;
 * - a branch has four siblings of 32 bytes;
 * - a fork's slot is one of 16 and not the element's, its prefix is nibbles, its root is 32 bytes; otherwise a leaf could be
 *   presented as a branch (0xff as a slot) and be lost;
 * - a leaf has a path and a value of 32 bytes, and shares the element's path down to the branch; otherwise a branch could be
 *   presented as a leaf, or a leaf be moved to a place where it is not found again.
 */
import { concat } from "#src/base/bytes.ts";
import { EMPTY, EMPTY_TREES } from "#src/forestry/hash.ts";
import * as u from "#src/contract/uplc/builtin.ts";
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
} from "#src/contract/uplc/expression.ts";
import { asBytes, asData, asInt, record } from "#src/contract/uplc/record.ts";
import type { Bool, Bytes, Data, Expr, Fn, Int, List, Tuple } from "#src/contract/uplc/term.ts";

/** Root before, root after. */
export type Roots = Tuple<[Bytes, Bytes]>;
/**
 * Gives both roots of a sub-trie for (path, number of its nibbles above the sub-trie, digest of the old value or no bytes,
 * digest of the new value, proof). With no nibbles above, the sub-trie is the whole trie.
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
  /** The part of a leaf's hashed bytes that stands for its path from a nibble on. */
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
 * Siblings of `slot` if `other`, with `hash`, is the only other occupied slot. From the slots upwards, the other's hash is joined
 * with empty trees until it is the sibling of the slot's own subtree; `offset` is the place of the level's sibling. Fails if
 * `other` is not one of the 16 slots, because the two then never become siblings. The caller checks that they differ.
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

/** Both roots of the binary tree over 16 slots, from both hashes of one slot and its siblings. */
function fold(slot: Expr<Int>, siblings: Expr<Bytes>, roots: Expr<Roots>): Expr<Roots> {
  return forms(() => foldHalving(slot, siblings, roots), () => foldByTable(slot, siblings, roots));
}

/** Both hashes of a node, from those of one child; `isLeft` selects by whether that child is the left one. */
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

/** `fold` that halves the slot at each level. */
function foldHalving(slot: Expr<Int>, siblings: Expr<Bytes>, roots: Expr<Roots>, level = 0): Expr<Roots> {
  return joined(
    roots,
    siblings,
    level,
    (left, right) => choose(isEven(slot), left, right),
    (roots) => level === 3 ? roots : bind([half(slot)], (above) => foldHalving(above, siblings, roots, level + 1)),
  );
}

/** `fold` that looks up, for each level, which child (0 or 1) a slot is below. */
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

/** Binds `Follow` around a part of the script. */
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

/** Roots at the end of the proof: of nothing or the old value, and of the new value. */
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
                    /** A branch with one neighbour; without the element, the neighbour takes the branch's place. */
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
