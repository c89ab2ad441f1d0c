/**
 * Crowns: the branch at the top of a trie, opened once for all requests of an update.
 *
 * A crown is what its 16 slots hold, side by side: 512 bytes. Every proof of a trie whose top branch shares no nibbles begins with that branch, so
 * an update of many requests would repeat most of it in each. With a crown the root of the trie is computed twice, before and after all
 * requests; in between each request changes the slot of its path, by a proof of the sub-trie that stands there.
 *
 * That proves as much as proofs with the branch in each of them. The root before is hashed over 32 bytes, as only a branch without shared nibbles is
 * (a leaf's are more, so are those of another branch), and the tree over 16 slots has the same depth everywhere; so a crown that leads to the
 * root has in each slot what the trie has there. A request's proof begins at the nibble behind the slot's, as it would behind that first
 * step: written out with the other 15 slots as they are by then, the step would lead from the same root to the same root. Two
 * slots at least are occupied in the end, else the trie would have no branch there.
 */
import { EMPTY } from "#src/forestry/hash.ts";
import * as u from "#src/cage/uplc/builtin.ts";
import { bind, bytes, call, check, choose, fn, int, recursive } from "#src/cage/uplc/expression.ts";
import type { Bytes, Expr, Fn, Int } from "#src/cage/uplc/term.ts";

/** Bytes of a crown, and of what one slot holds. */
const WHOLE = 512;
const SLOT = 32;

/** Root of the trie with a crown. Fails for one of another length, and with less than two slots occupied. */
export type CrownRoot = Expr<Fn<[Bytes], Bytes>>;

/** Binds `CrownRoot` around a part of the script. */
export function withCrownRoot<R>(body: (crownRoot: CrownRoot) => Expr<R>): Expr<R> {
  return bind([
    fn<[Bytes], Bytes>((crown) =>
      check(
        u.equalInts(u.length(crown), int(WHOLE)),
        "crown: not 16 slots",
        check(
          u.less(int(1), call(occupied, crown)),
          "crown: less than two slots are occupied",
          u.blake2b(call(merkle, crown, int(WHOLE / 2))),
        ),
      )
    ),
  ], (crownRoot) => body(crownRoot));
}

/** How many slots are occupied. */
const occupied = recursive<[Bytes], Int>((self) =>
  fn((rest) =>
    choose(
      u.equalInts(u.length(rest), int(0)),
      int(0),
      u.add(
        choose(u.equalBytes(u.slice(int(0), int(SLOT), rest), bytes(EMPTY)), int(0), int(1)),
        self(u.slice(int(SLOT), int(WHOLE), rest)),
      ),
    )
  )
);

/** Root of the binary tree over some slots, twice as many bytes as are given beside them. */
const merkle = recursive<[Bytes, Int], Bytes>((self) =>
  fn((slots, half) =>
    choose(
      u.less(half, int(SLOT)),
      slots,
      u.blake2b(u.append(
        self(u.slice(int(0), half, slots), u.divide(half, int(2))),
        self(u.slice(half, half, slots), u.divide(half, int(2))),
      )),
    )
  )
);

/** What the slot of a path holds. */
export function slotOf(crown: Expr<Bytes>, at: Expr<Int>): Expr<Bytes> {
  return u.slice(at, int(SLOT), crown);
}

/** Where in a crown the slot of a path begins. */
export function placeOf(path: Expr<Bytes>): Expr<Int> {
  // a byte's high half is its first nibble: byte / 16 * 32, without what the low half adds
  const byte = u.byteAt(path, int(0));
  return u.subtract(u.add(byte, byte), u.modulo(u.add(byte, byte), int(SLOT)));
}

/** The crown with something else in a slot. */
export function withSlot(crown: Expr<Bytes>, at: Expr<Int>, held: Expr<Bytes>): Expr<Bytes> {
  const after = u.slice(u.add(at, int(SLOT)), int(WHOLE), crown);
  return u.append(u.slice(int(0), at, crown), u.append(held, after));
}
