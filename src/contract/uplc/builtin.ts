/** Typed built-in functions of Plutus V3. */
import {
  applied,
  type Bool,
  type Bytes,
  type Data,
  type Expr,
  type Int,
  type List,
  type Pair,
  typed,
  type Unit,
} from "#src/contract/uplc/term.ts";
import type { BuiltinName } from "#src/contract/uplc/builtinTable.ts";

function of1<A, R>(name: BuiltinName): (a: Expr<A>) => Expr<R> {
  return (a) => typed(applied({ kind: "builtin", name }, a.term));
}
function of2<A, B, R>(name: BuiltinName): (a: Expr<A>, b: Expr<B>) => Expr<R> {
  return (a, b) => typed(applied({ kind: "builtin", name }, a.term, b.term));
}
function of3<A, B, C, R>(name: BuiltinName): (a: Expr<A>, b: Expr<B>, c: Expr<C>) => Expr<R> {
  return (a, b, c) => typed(applied({ kind: "builtin", name }, a.term, b.term, c.term));
}

export const add = of2<Int, Int, Int>("addInteger");
export const subtract = of2<Int, Int, Int>("subtractInteger");
/** Quotient, rounded down. */
export const divide = of2<Int, Int, Int>("divideInteger");
/** Remainder of `divide`. */
export const modulo = of2<Int, Int, Int>("modInteger");
export const equalInts = of2<Int, Int, Bool>("equalsInteger");
export const less = of2<Int, Int, Bool>("lessThanInteger");
export const lessOrEqual = of2<Int, Int, Bool>("lessThanEqualsInteger");

export const append = of2<Bytes, Bytes, Bytes>("appendByteString");
/** Prepends a byte; fails unless it is from 0 to 255. */
export const prepend = of2<Int, Bytes, Bytes>("consByteString");
/** (offset, count, bytes): at most `count` bytes from the offset. It never fails; outside the bytes it gives fewer. */
export const slice = of3<Int, Int, Bytes, Bytes>("sliceByteString");
export const length = of1<Bytes, Int>("lengthOfByteString");
/** The byte at an index; fails if there is none. */
export const byteAt = of2<Bytes, Int, Int>("indexByteString");
export const equalBytes = of2<Bytes, Bytes, Bool>("equalsByteString");
/** Whether the first byte string is lexicographically smaller. */
export const lessBytes = of2<Bytes, Bytes, Bool>("lessThanByteString");
export const sha2 = of1<Bytes, Bytes>("sha2_256");
export const blake2b = of1<Bytes, Bytes>("blake2b_256");
/** (big-endian?, width in bytes, number); fails when the number does not fit. */
export const intToBytes = of3<Bool, Int, Int, Bytes>("integerToByteString");

/** Constructor and fields of data; fails on other kinds of data. */
export const unConstr = of1<Data, Pair<Int, List<Data>>>("unConstrData");
export const unMap = of1<Data, List<Pair<Data, Data>>>("unMapData");
export const unList = of1<Data, List<Data>>("unListData");
export const unInt = of1<Data, Int>("unIData");
export const unBytes = of1<Data, Bytes>("unBData");
export const constrData = of2<Int, List<Data>, Data>("constrData");
export const mapData = of1<List<Pair<Data, Data>>, Data>("mapData");
export const intData = of1<Int, Data>("iData");
export const bytesData = of1<Bytes, Data>("bData");
export const pairData = of2<Data, Data, Pair<Data, Data>>("mkPairData");
export const equalData = of2<Data, Data, Bool>("equalsData");
export const noData = of1<Unit, List<Data>>("mkNilData");
export const noPairs = of1<Unit, List<Pair<Data, Data>>>("mkNilPairData");

export function first<A, B>(pair: Expr<Pair<A, B>>): Expr<A> {
  return of1<Pair<A, B>, A>("fstPair")(pair);
}
export function second<A, B>(pair: Expr<Pair<A, B>>): Expr<B> {
  return of1<Pair<A, B>, B>("sndPair")(pair);
}
/** First element; fails on an empty list. */
export function head<A>(list: Expr<List<A>>): Expr<A> {
  return of1<List<A>, A>("headList")(list);
}
/** All but the first element; fails on an empty list. */
export function tail<A>(list: Expr<List<A>>): Expr<List<A>> {
  return of1<List<A>, List<A>>("tailList")(list);
}
/** A list without its first `count` elements; empty if it has fewer. From protocol version 11 on. */
export function drop<A>(count: Expr<Int>, list: Expr<List<A>>): Expr<List<A>> {
  return of2<Int, List<A>, List<A>>("dropList")(count, list);
}
export function isEmpty<A>(list: Expr<List<A>>): Expr<Bool> {
  return of1<List<A>, Bool>("nullList")(list);
}
export function cons<A>(element: Expr<A>, list: Expr<List<A>>): Expr<List<A>> {
  return of2<A, List<A>, List<A>>("mkCons")(element, list);
}
