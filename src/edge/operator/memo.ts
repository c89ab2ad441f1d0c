/** An answer that several ask for at once, and that serves for a moment: found once. */
export function memo<T>(ms: number, find: () => Promise<T>): () => Promise<T> {
  let found: { readonly at: number; readonly value: Promise<T> } | undefined;
  return () => {
    if (found !== undefined && performance.now() - found.at < ms) return found.value;
    const mine = { at: performance.now(), value: find() };
    found = mine;
    // What failed serves nobody.
    mine.value.catch(() => {
      if (found === mine) found = undefined;
    });
    return mine.value;
  };
}
