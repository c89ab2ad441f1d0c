/**
 * Changes in parts, so that none is long as JSON: first the value without the entries of its maps, then these, some at a time.
 * Stake snapshots need it, which list every delegator and every vote.
 */
import { holdsMaps } from "#src/devnet/ledger/plainJson.ts";
import type { EntryChange } from "#src/devnet/ledger/changes.ts";

/** Entries of a part. */
const ENTRIES = 50;

/** Entries of a map of a change. */
interface Entries {
  readonly side: "before" | "after";
  /** Members and keys that lead to the map. */
  readonly path: readonly unknown[];
  readonly entries: ReadonlyMap<unknown, unknown>;
}

/** A change, or with `more` a part of one that the next part belongs to as well. */
export interface ChangePart extends EntryChange, Partial<Entries> {
  readonly more?: true;
}

/** The parts of a change; itself where it holds no map. */
export function* partsOf({ kind, key, ...sides }: EntryChange): Iterable<ChangePart> {
  const { before, after } = sides;
  let last: ChangePart = {
    kind,
    key,
    ...(before === undefined ? {} : { before: withoutEntries(before) }),
    ...(after === undefined ? {} : { after: withoutEntries(after) }),
  };
  for (const side of ["before", "after"] as const) {
    for (const [path, entries] of entriesIn(sides[side], [])) {
      yield { ...last, more: true };
      last = { kind, key, side, path, entries };
    }
  }
  yield last;
}

function withoutEntries(value: unknown): unknown {
  if (value instanceof Map) return new Map();
  if (!holdsMaps(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutEntries(member)]));
}

function* entriesIn(value: unknown, path: readonly unknown[]): Iterable<[readonly unknown[], Map<unknown, unknown>]> {
  if (!holdsMaps(value)) return;
  const nested: [unknown, unknown][] = [];
  if (value instanceof Map) {
    let some = new Map<unknown, unknown>();
    for (const [key, entry] of value) {
      if (some.size === ENTRIES) {
        yield [path, some];
        some = new Map();
      }
      some.set(key, withoutEntries(entry));
      if (holdsMaps(entry)) nested.push([key, entry]);
    }
    if (some.size > 0) yield [path, some];
  } else nested.push(...Object.entries(value));
  for (const [name, member] of nested) yield* entriesIn(member, [...path, name]);
}

/** Puts changes together that `partsOf` divided. */
export class JoinedChanges {
  readonly changes: EntryChange[] = [];
  #isOpen = false;

  /** Adds the next change or part. @throws {TypeError} if it is part of no change */
  add({ more = undefined, side, path, entries, ...change }: ChangePart): void {
    if (!this.#isOpen) this.changes.push(change);
    else {
      const target = reached(side && this.changes.at(-1)?.[side], path ?? []);
      for (const [key, value] of entries ?? []) target.set(key, value);
    }
    this.#isOpen = more === true;
  }
}

/** The map within a value that a path leads to. */
function reached(value: unknown, path: readonly unknown[]): Map<unknown, unknown> {
  let at = value;
  for (const step of path) {
    if (at instanceof Map) at = at.get(step);
    else at = typeof at === "object" && at !== null ? Reflect.get(at, String(step)) : undefined;
  }
  if (!(at instanceof Map)) throw new TypeError("entries of no map");
  return at;
}
