/** Maps whose values are lists, whose entries must exist, or whose size is limited. */

/** Adds a value to the list of a key. */
export function addTo<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}

/**
 * The value of a key that the program has put into the map.
 *
 * @throws TypeError where the key is missing: an error of the program.
 */
export function mustGet<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key);
  if (value === undefined) throw new TypeError(`no entry for ${key}`);
  return value;
}

/** Sets an entry, and removes the oldest one where the map then has more than `most`. */
export function setBounded<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.set(key, value);
  if (map.size <= most) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
