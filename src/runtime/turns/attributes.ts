/** The search attributes of an entity as rows: computed from its snapshot, written by its turns where they differ. */
import type { AnyMachineSnapshot } from "xstate";
import { stateName } from "#src/runtime/turns/machine.ts";
import type { ActorKind, Attribute } from "#src/runtime/types.ts";

/** An attribute as its row; without a value there is no row. */
export interface AttributeRow {
  readonly name: string;
  readonly text: string | null;
  /** A number, or a time in milliseconds since 1970, in decimal digits. */
  readonly number: string | null;
}

/** The attributes of an entity, by name. */
export type AttributeRows = ReadonlyMap<string, AttributeRow>;

/** Longest text that is kept: the index holds it. */
const LONGEST = 200;
/** The last time of a `Date`, in milliseconds since 1970. */
const LAST_MS = 8.64e15;

/**
 * The attributes of a snapshot; `undefined` for a kind without.
 * @throws TypeError for what is not a number or a time, and whatever the kind's functions throw.
 */
export function attributesOf(
  { attributes }: Pick<ActorKind, "attributes">,
  { value, context }: Pick<AnyMachineSnapshot, "value" | "context">,
): AttributeRows | undefined {
  if (attributes === undefined) return undefined;
  const view = { state: stateName(value), context };
  return new Map(
    Object.entries(attributes).map(([name, attribute]) => [name, { name, ...columns(name, attribute, view) }]),
  );
}

function columns(name: string, attribute: Attribute, view: Parameters<Attribute["of"]>[0]) {
  const value = attribute.of(view);
  if (value === undefined) return { text: null, number: null };
  if (attribute.type === "text") {
    return { text: String(value).replaceAll("\0", "").slice(0, LONGEST).toWellFormed(), number: null };
  }
  const most = attribute.type === "time" ? LAST_MS : Number.MAX_VALUE;
  if (typeof value === "bigint" || Math.abs(Number(value)) <= most) return { text: null, number: String(value) };
  throw new TypeError(`the attribute "${name}" is not a ${attribute.type}`);
}

/** The rows of `now` that `before` has not; all of them where it is unknown what is stored. */
export function changedAttributes(before: AttributeRows | undefined, now: AttributeRows | undefined): AttributeRow[] {
  return [...now?.values() ?? []].filter((row) => {
    const was = before?.get(row.name);
    return was === undefined || was.text !== row.text || was.number !== row.number;
  });
}
