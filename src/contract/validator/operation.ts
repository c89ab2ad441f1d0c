/** The effect of an operation on a token's root. */
import * as u from "#src/contract/uplc/builtin.ts";
import { bind, call, check, choose, int, untuple } from "#src/contract/uplc/expression.ts";
import type { Bytes, Data, Expr, Int, List, Pair } from "#src/contract/uplc/term.ts";
import { type Follow, none } from "#src/contract/validator/proof.ts";

/**
 * The root after an operation on the fact at a path: insert (constructor 0, value), delete (1, value) or update (2, old and new
 * value). Fails if the proof does not lead to the old root or the operation has another form. With `above` nibbles, the roots
 * are those of a sub-trie at that depth.
 */
export function rootAfter(
  follow: Follow,
  root: Expr<Bytes>,
  path: Expr<Bytes>,
  above: Expr<Int>,
  operation: Expr<Pair<Int, List<Data>>>,
  proof: Expr<List<Data>>,
): Expr<Bytes> {
  return bind(
    [u.first(operation), u.second(operation)],
    (kind, values) =>
      bind([u.blake2b(u.unBytes(u.head(values))), u.tail(values)], (value, more) =>
        choose(
          u.equalInts(kind, int(2)),
          bind([u.blake2b(u.unBytes(u.head(more)))], (replacing) =>
            check(
              u.isEmpty(u.tail(more)),
              "update: not two values",
              untuple(
                call(follow, path, above, value, replacing, proof),
                (before, after) =>
                  check(u.equalBytes(before, root), "update: the proof does not lead to the root", after),
              ),
            )),
          check(
            u.isEmpty(more),
            "not one value",
            untuple(call(follow, path, above, none, value, proof), (before, after) =>
              choose(
                u.equalInts(kind, int(0)),
                check(u.equalBytes(before, root), "insert: the proof does not lead to the root", after),
                check(
                  u.equalInts(kind, int(1)),
                  "no such operation",
                  check(u.equalBytes(after, root), "delete: the proof does not lead to the root", before),
                ),
              )),
          ),
        )),
  );
}
