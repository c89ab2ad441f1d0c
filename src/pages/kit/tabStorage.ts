/// <reference lib="dom" />
/** Texts that this tab keeps (sessionStorage), so that a reload finds them. */

/** What could not be kept, because storage is off or full: it holds until the page is closed. */
const unkept = new Map<string, string>();

/** The text that is kept under a name. */
export function keptInTab(name: string): string | undefined {
  try {
    return unkept.get(name) ?? sessionStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a text under a name; undefined forgets it. */
export function keepInTab(name: string, text: string | undefined): void {
  unkept.delete(name);
  try {
    if (text === undefined) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, text);
  } catch {
    if (text !== undefined) unkept.set(name, text);
  }
}
