/** Work one after the other, by name. */

/** The last work by name. */
const last = new Map<string, Promise<unknown>>();

/** Runs work for the same name one after the other, within this process; work that fails does not stop the next. */
export async function serially<T>(name: string, work: () => Promise<T>): Promise<T> {
  const mine = (last.get(name) ?? Promise.resolve()).then(work, work);
  last.set(name, mine);
  try {
    return await mine;
  } finally {
    if (last.get(name) === mine) last.delete(name);
  }
}
