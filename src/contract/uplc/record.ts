/** Generates accessors from descriptions of constructors with named fields. */
import { head, isEmpty, second, tail, unBytes, unConstr, unInt, unList, unMap } from "#src/contract/uplc/builtin.ts";
import type { Bool, Bytes, Data, Expr, Int, List, Pair } from "#src/contract/uplc/term.ts";

/** How a field is read from its data. */
interface Kind<A> {
  readonly read: (data: Expr<Data>) => Expr<A>;
}

export const asData: Kind<Data> = { read: (data) => data };
export const asInt: Kind<Int> = { read: unInt };
export const asBytes: Kind<Bytes> = { read: unBytes };
export const asList: Kind<List<Data>> = { read: unList };
export const asMap: Kind<List<Pair<Data, Data>>> = { read: unMap };
/** A constructor: the pair of its number and its fields. */
export const asConstr: Kind<Pair<Int, List<Data>>> = { read: unConstr };

type Shape = { readonly [field: string]: Kind<unknown> };
type Read<K> = K extends Kind<infer A> ? A : never;

/** The list of a constructor's fields, typed by the record. */
interface Fields<S> {
  readonly type: "fields";
  readonly shape: S;
}

/** A constructor's fields, by name. */
interface RecordType<S extends Shape> {
  /** Fields of a constructor. Its number is not checked. */
  readonly open: (data: Expr<Data>) => Expr<Fields<S>>;
  /** Fields from their list. */
  readonly of: (fields: Expr<List<Data>>) => Expr<Fields<S>>;
  /** Each field, read as its kind. */
  readonly get: { readonly [K in keyof S]: (fields: Expr<Fields<S>>) => Expr<Read<S[K]>> };
  /** Each field, as data. */
  readonly raw: { readonly [K in keyof S]: (fields: Expr<Fields<S>>) => Expr<Data> };
  /** The list of fields from the named one on. */
  readonly from: { readonly [K in keyof S]: (fields: Expr<Fields<S>>) => Expr<List<Data>> };
  /** Whether no field follows the last one. */
  readonly ends: (fields: Expr<Fields<S>>) => Expr<Bool>;
}

/** Describes a constructor by its fields in order. */
export function record<const S extends Shape>(shape: S): RecordType<S> {
  const kinds: Shape = shape;
  const all = Object.entries(kinds);
  const list = (fields: Expr<Fields<S>>): Expr<List<Data>> => ({ term: fields.term });
  const drop = (fields: Expr<Fields<S>>, count: number): Expr<List<Data>> => {
    let rest = list(fields);
    for (let i = 0; i < count; i++) rest = tail(rest);
    return rest;
  };
  const each = <R>(make: (kind: Kind<unknown>, index: number) => R) =>
    Object.fromEntries(all.map(([name, kind], i) => [name, make(kind, i)]));
  const of = (fields: Expr<List<Data>>): Expr<Fields<S>> => ({ term: fields.term });
  return {
    of,
    open: (data) => of(second(unConstr(data))),
    get: each((kind, i) => (fields: Expr<Fields<S>>) => kind.read(head(drop(fields, i)))),
    raw: each((_, i) => (fields: Expr<Fields<S>>) => head(drop(fields, i))),
    from: each((_, i) => (fields: Expr<Fields<S>>) => drop(fields, i)),
    ends: (fields) => isEmpty(drop(fields, all.length)),
  } as RecordType<S>;
}
