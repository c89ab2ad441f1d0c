/** Lists actors of a kind by their search attributes: by equality and range, in the order of one of them. */
import {
  attributesIn,
  attributesQuery,
  type AttributeValue,
  type AttributeValues,
  type StoredAttributes,
} from "#src/runtime/operations/attributes.ts";
import type { ActorSummary } from "#src/runtime/operations/inspect.ts";
import type { ActorKind, Attribute } from "#src/runtime/types.ts";
import type { Fragment, Store } from "#src/store/store.ts";

/** A condition on an attribute. */
export interface AttributeCondition {
  readonly attribute: string;
  readonly equals?: AttributeValue | undefined;
  /** The least value, and the one before which the values end. */
  readonly from?: AttributeValue | undefined;
  readonly before?: AttributeValue | undefined;
}

/** Which actors to list. */
export interface ActorSearch {
  readonly kind: Pick<ActorKind, "kind" | "attributes">;
  /** All hold. An actor without a value of the attribute is left out, also where nothing else is required. */
  readonly where: readonly AttributeCondition[];
  readonly state?: string | undefined;
  readonly paused?: boolean | undefined;
  /** An attribute; by default that of the first condition. Equal values are ordered by id. */
  readonly order?: string | undefined;
  readonly descending?: boolean | undefined;
  /** The place of the last actor of the page before. */
  readonly after?: ActorPlace | undefined;
  readonly limit: number;
}

/** A place in the order: the value as text, and the id. */
export interface ActorPlace {
  readonly value: string;
  readonly id: string;
}

export interface FoundActor extends ActorSummary {
  readonly attributes: AttributeValues;
  readonly place: ActorPlace;
}

/**
 * The actors of a kind that a search finds, at most `limit`.
 *
 * @throws RangeError when the search names no attribute, or one that the kind does not have.
 *
 * @example
 * ```ts
 * const wide = await findActors(store, {
 *   kind: door,
 *   where: [{ attribute: "owner", equals: "c-7" }, { attribute: "width", from: 100 }],
 *   order: "opened",
 *   descending: true,
 *   limit: 50,
 * });
 * ```
 */
export async function findActors({ sql }: Store, search: ActorSearch): Promise<FoundActor[]> {
  const { kind: { kind }, where, state, paused, descending = false, after, limit } = search;
  const order = search.order ?? where[0]?.attribute ?? "";
  const column = columnOf(search, order);
  const value = (name: string, of: AttributeValue) =>
    columnOf(search, name) === "text" ? sql`${String(of)}` : sql`${String(of)}::numeric`;
  const within = (row: Fragment, { attribute, equals, from, before }: AttributeCondition): Fragment => {
    const field = sql`${row}.${sql(columnOf(search, attribute))}`;
    return sql`${equals === undefined ? sql`` : sql`and ${field} = ${value(attribute, equals)}`}
      ${from === undefined ? sql`` : sql`and ${field} >= ${value(attribute, from)}`}
      ${before === undefined ? sql`` : sql`and ${field} < ${value(attribute, before)}`}`;
  };
  const conditions = (one: AttributeCondition): Fragment =>
    one.attribute === order ? within(sql`d`, one) : sql`and exists (select 1 from actor_attribute x
      where x.kind = d.kind and x.id = d.id and x.name = ${one.attribute} ${within(sql`x`, one)})`;
  const direction = descending ? sql`desc` : sql``;
  const rows = await sql<
    (Omit<FoundActor, "version" | "attributes" | "place"> & {
      version: bigint;
      attributes: StoredAttributes | null;
      value: string;
    })[]
  >`
    select a.kind, a.id, a.state, a.version, a.paused, a.changed, a.partition, p.owner, d.${sql(column)}::text as value,
      ${attributesQuery(sql)} as attributes
    from actor_attribute d join actor a on a.kind = d.kind and a.id = d.id left join partition p on p.id = a.partition
    where d.kind = ${kind} and d.name = ${order} and d.${sql(column)} is not null
      ${where.reduce((all, one) => sql`${all} ${conditions(one)}`, sql``)}
      ${state === undefined ? sql`` : sql`and a.state = ${state}`}
      ${paused === undefined ? sql`` : sql`and a.paused = ${paused}`}
      ${
    after === undefined
      ? sql``
      : sql`and (d.${sql(column)}, d.id) ${descending ? sql`<` : sql`>`} (${value(order, after.value)}, ${after.id})`
  }
    order by d.${sql(column)} ${direction}, d.id ${direction} limit ${limit}`;
  return rows.map(({ value, version, attributes, ...row }) => ({
    ...row,
    version: Number(version),
    attributes: attributesIn(attributes),
    place: { value, id: row.id },
  }));
}

/** The column that has the values of an attribute. */
function columnOf({ kind }: ActorSearch, name: string): "text" | "number" {
  const type = typeOf(kind, name);
  if (type === undefined) throw new RangeError(`${kind.kind} has no attribute "${name}"`);
  return type === "text" ? "text" : "number";
}

/** The type of an attribute; `undefined` when the kind does not have it. */
export function typeOf({ attributes }: Pick<ActorKind, "attributes">, name: string): Attribute["type"] | undefined {
  return attributes !== undefined && Object.hasOwn(attributes, name) ? attributes[name]?.type : undefined;
}
