/** Comparison of what a view shows with what was proven: a service may prove one thing and list another. */

/** What a view shows. */
export interface Shown {
  /** Content by id. */
  readonly items: ReadonlyMap<string, string>;
  /** How many there are, as the service says. */
  readonly total: number;
}

/** What was proven: the possible contents by id. A token can have a state under several versions of the contract. */
export type ProvenItems = ReadonlyMap<string, readonly string[]>;

/** The first difference, as a sentence; undefined: what is shown is what was proven. */
export function difference({ items, total }: Shown, proven: ProvenItems): string | undefined {
  for (const [id, content] of items) {
    const contents = proven.get(id);
    if (contents === undefined) return `The page shows ${id}, which is not proven.`;
    if (!contents.includes(content)) return `The page shows other content of ${id} than is proven.`;
  }
  // what is not on this page of a list is on another one
  const omitted = items.size < total ? undefined : [...proven.keys()].find((id) => !items.has(id));
  if (omitted !== undefined) return `The page does not show ${omitted}, which is proven.`;
  return total === proven.size ? undefined : `The service counts ${total}, and ${proven.size} are proven.`;
}

/** Whether two views show the same. */
export function isSame(a: Shown | undefined, b: Shown | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.total === b.total && a.items.size === b.items.size &&
    [...a.items].every(([id, content]) => b.items.get(id) === content);
}

/** Items with their contents. */
export function itemsOf(contents: Iterable<readonly [id: string, content: string]>): ProvenItems {
  const items = new Map<string, string[]>();
  for (const [id, content] of contents) items.set(id, [...items.get(id) ?? [], content]);
  return items;
}

/** The content of a token's state. */
export const tokenContent = (
  { outputRefId, owner, root }: { readonly outputRefId: string; readonly owner: string; readonly root: string },
): string => [outputRefId, owner, root].join(" ");

/** The content of an open request, with key and values in hexadecimal. */
export const requestContent = ({ refundAddress, lovelace, fee, change: { type, key, oldValue, newValue } }: {
  readonly refundAddress: string;
  readonly lovelace: number | bigint;
  readonly fee: number | bigint;
  readonly change: {
    readonly type: string;
    readonly key: string;
    readonly oldValue?: string | undefined;
    readonly newValue?: string | undefined;
  };
}): string => JSON.stringify([refundAddress, String(lovelace), String(fee), type, key, oldValue, newValue]);
