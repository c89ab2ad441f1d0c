/**
 * The crown: the contract's short name for the top branch of a trie that all requests of an update share.
 *
 * A crown is the concatenation of the branch's 16 slots: 512 bytes. If the top branch has no shared nibbles, every proof of
 * the trie begins with it, so an update of many requests would repeat most of it in each proof. With a crown, the trie's root
 * is computed only twice: before and after all requests. In between, each request changes its path's slot by a proof of the
 * sub-trie in that slot.
 *
 * This proves as much as complete proofs do:
 * - The old root is a hash over 32 bytes, which only a branch without shared nibbles has (a leaf and any other branch have
 *   more), and the binary tree over 16 slots has the same depth everywhere. So a crown that hashes to the root has the trie's
 *   hash in each slot.
 * - A request's proof begins at the nibble after the slot's, as it does after the first step of a complete proof. Written
 *   out with the other 15 slots as they are then, that step would lead from the same old root to the same new root.
 * - At least two slots are occupied at the end; otherwise the trie would have no branch there.
 */
import { EMPTY } from "#src/forestry/hash.ts";
import * as u from "#src/contract/uplc/builtin.ts";
import { bind, bytes, call, check, choose, fn, int, recursive } from "#src/contract/uplc/expression.ts";
import type { Bytes, Expr, Fn, Int } from "#src/contract/uplc/term.ts";

/** Bytes of a crown, and of one slot. */
const WHOLE = 512;
const SLOT = 32;

/** Root of the trie with a crown. Fails if its length is wrong or fewer than two slots are occupied. */
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

/** (slots, half): root of the binary tree over slots of 2 × `half` bytes. */
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

/** The hash in a slot. */
export function slotOf(crown: Expr<Bytes>, at: Expr<Int>): Expr<Bytes> {
  return u.slice(at, int(SLOT), crown);
}

/** Offset of a path's slot in a crown. */
export function placeOf(path: Expr<Bytes>): Expr<Int> {
  // the first nibble is the byte's high half: byte / 16 * 32 is 2 * byte without the part of the low half
  const byte = u.byteAt(path, int(0));
  return u.subtract(u.add(byte, byte), u.modulo(u.add(byte, byte), int(SLOT)));
}

/** The crown with another hash in a slot. */
export function withSlot(crown: Expr<Bytes>, at: Expr<Int>, held: Expr<Bytes>): Expr<Bytes> {
  const after = u.slice(u.add(at, int(SLOT)), int(WHOLE), crown);
  return u.append(u.slice(int(0), at, crown), u.append(held, after));
}
