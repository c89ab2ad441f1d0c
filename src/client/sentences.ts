/** Parts of the sentences that say what was verified. */

/** A number with the words for one thing or for several. */
export function plural(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
