/** Lists of the machine: a slice of an array, then the rest of the list. Head, tail and cons are O(1). */

export class List<out T = unknown> {
  private whole: readonly T[] | undefined;

  /** The elements of `items` from `at` on, then those of `rest`. Only the empty list has no items of its own. */
  constructor(readonly items: readonly T[], readonly at: number, readonly rest: List<T> | null) {}

  /** All elements. */
  toArray(): readonly T[] {
    if (this.at === 0 && this.rest === null) return this.items;
    return this.whole ??= gathered(this);
  }
}

function gathered<T>(list: List<T>): T[] {
  const whole: T[] = [];
  for (let piece: List<T> | null = list; piece !== null; piece = piece.rest) {
    for (const item of piece.at === 0 ? piece.items : piece.items.slice(piece.at)) whole.push(item);
  }
  return whole;
}

export const EMPTY: List<never> = new List([], 0, null);

export function listOf<T>(items: readonly T[]): List<T> {
  return items.length === 0 ? EMPTY : new List(items, 0, null);
}

export function isEmpty(list: List): boolean {
  return list.at >= list.items.length;
}

export function cons<T>(element: T, list: List<T>): List<T> {
  return new List([element], 0, isEmpty(list) ? null : list);
}

/** First element of a list that is not empty. */
export function head(list: List): unknown {
  return list.items[list.at];
}

/** All but the first element of a list that is not empty. */
export function tail<T>(list: List<T>): List<T> {
  return list.at + 1 < list.items.length ? new List(list.items, list.at + 1, list.rest) : list.rest ?? EMPTY;
}

export function length(list: List): number {
  let count = 0;
  for (let piece: List | null = list; piece !== null; piece = piece.rest) count += piece.items.length - piece.at;
  return count;
}

/** The list without its first `count` elements. */
export function drop<T>(list: List<T>, count: number): List<T> {
  let left = count;
  for (let piece: List<T> | null = list; piece !== null; piece = piece.rest) {
    const own = piece.items.length - piece.at;
    if (left < own) return left <= 0 ? piece : new List(piece.items, piece.at + left, piece.rest);
    left -= own;
  }
  return EMPTY;
}
