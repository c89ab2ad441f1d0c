/** Search attributes as readers get them. */
import { jsonInteger } from "#src/base/json.ts";
import type { Fragment, Queries } from "#src/store/store.ts";

/** A value of an attribute; a time in milliseconds since 1970. */
export type AttributeValue = string | number | bigint;
/** Attributes by name. */
export type AttributeValues = { readonly [name: string]: AttributeValue };

/** Attributes as a query gives them; numbers as text, because they are exact. */
export type StoredAttributes = { readonly [name: string]: { readonly text?: string; readonly number?: string } };

/** The attributes of the actor `a`, in a query. */
export function attributesQuery(sql: Queries): Fragment {
  return sql`(select json_object_agg(t.name, json_build_object(case when t.text is null then 'number' else 'text' end,
    coalesce(t.text, t.number::text))) from actor_attribute t where t.kind = a.kind and t.id = a.id)`;
}

/** Decodes the attributes that `attributesQuery` gives. */
export function attributesIn(stored: StoredAttributes | null): AttributeValues {
  return Object.fromEntries(
    Object.entries(stored ?? {}).map(([name, { text, number }]) => [
      name,
      text ?? (/^-?\d+$/.test(number ?? "") ? jsonInteger(BigInt(number ?? 0)) : Number(number)),
    ]),
  );
}
