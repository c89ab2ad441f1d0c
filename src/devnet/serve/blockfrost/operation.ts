/**
 * An operation of the Blockfrost API: its path as in Blockfrost's description, its parameters, and its handler.
 *
 * Parameters are checked as Blockfrost's server does it: in the order of the description, the first problem is
 * reported, and parameters that an operation does not have are ignored.
 */
import type { Context } from "hono";
import type { ChainPlace, Page, PlaceRange } from "#src/devnet/index/reads/page.ts";
import { badRequest, malformed } from "#src/devnet/serve/blockfrost/failures.ts";

/** Path parameters that are integers wherever they occur. */
export const INTEGERS = ["number", "epoch_number", "slot_number", "role", "index", "cert_index"] as const;
type IntegerName = (typeof INTEGERS)[number];

type ParameterNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParameterNames<Rest>
  : never;

/** Parameters of a path like `/blocks/{hash_or_number}/txs`. */
type PathParameters<Path extends string> = {
  readonly [Name in ParameterNames<Path>]: Name extends IntegerName ? number : string;
};

/**
 * Parameters of a list: `count` and `page`; with `order`; with `order`, `from` and `to`; `count` and `page` of Yaci
 * Store, which begin with 10 and 0.
 */
export type ListKind = "paged" | "ordered" | "ranged" | "store";

/** The page of a list that a request asks for. */
export interface ListQuery extends Page {
  /**
   * The places `from` and `to`.
   *
   * @throws {HttpFailure} 400 where one is malformed, or `from` is after `to`
   */
  range(): PlaceRange;
}

/** Computes the document of an operation; undefined is 404, a response is sent as it is. */
type Handler<Path extends string, More> = (
  params: PathParameters<Path>,
  more: More & { readonly context: Context },
) => Promise<unknown>;

/** Parameters of a query that choose from a list, with their values. */
export type Filters = Readonly<Record<string, readonly string[]>>;

/** A declared operation. */
export interface Operation {
  readonly method: "GET" | "POST";
  /** Its path in Blockfrost's description. */
  readonly path: string;
  readonly list?: ListKind;
  /** Further parameters of the query, with the values that each may have. */
  readonly filters?: Filters;
  /** Reads the parameters and computes the answer. @throws {HttpFailure} 400 for malformed parameters */
  readonly answer: (context: Context) => Promise<unknown>;
}

/** An operation that answers with one document or with a list that is always whole. */
export function get<Path extends string>(path: Path, handler: Handler<Path, unknown>): Operation {
  return { method: "GET", path, answer: async (context) => await handler(readPath(path, context), { context }) };
}

/** An operation that answers with a page of a list. */
export function list<Path extends string>(
  path: Path,
  kind: ListKind,
  handler: Handler<Path, { readonly page: ListQuery; readonly chosen: Readonly<Record<string, string | undefined>> }>,
  filters: Filters = {},
): Operation {
  return {
    method: "GET",
    path,
    list: kind,
    filters,
    answer: async (context) => {
      const params = readPath(path, context);
      const page = readList(kind, context);
      const chosen = Object.fromEntries(
        Object.entries(filters).map(([name, values]) => [name, oneOf(context.req.queries(name), name, values)]),
      );
      return await handler(params, { context, page, chosen });
    },
  };
}

/** An operation of Yaci Store that answers with a page of a list, newest first. */
export function storeList(path: string, handler: (more: { readonly page: ListQuery }) => Promise<unknown>): Operation {
  return { method: "GET", path, list: "store", answer: (context) => handler({ page: readList("store", context) }) };
}

/** An operation with a body, which the handler reads. */
export function post<Path extends string>(path: Path, handler: Handler<Path, unknown>): Operation {
  return { ...get(path, handler), method: "POST" };
}

function readPath<Path extends string>(path: Path, { req }: Context): PathParameters<Path> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const values = names.map((name) => {
    const text = req.param(name) ?? "";
    const isInteger = INTEGERS.some((one) => one === name);
    return [name, isInteger ? integer(text, `params/${name}`) : text] as const;
  });
  // the names are those of the path, and the kind of each value goes by its name
  return Object.fromEntries(values) as PathParameters<Path>;
}

function readList(kind: ListKind, { req }: Context): ListQuery {
  const isStore = kind === "store";
  const count = bounded(req.queries("count"), "count", isStore ? 10 : 100, { least: 1, most: 100 });
  // the first page of Yaci Store, whose prefix this is, is 0 and 1
  const least = req.path.startsWith("/api/v1/") ? 0 : 1;
  const page = Math.max(1, bounded(req.queries("page"), "page", 1, { least, most: 21_474_836 }));
  const order = kind !== "paged" && !isStore && oneOf(req.queries("order"), "order", ["asc", "desc"]) === "desc"
    ? "desc"
    : "asc";
  const [from, to] = (["from", "to"] as const).map((name) => {
    const values = kind === "ranged" ? req.queries(name) ?? [] : [];
    if (values.length > 1) throw badRequest(`querystring/${name} must be string`);
    return values[0];
  });
  return { limit: count, offset: (page - 1) * count, order, range: () => readRange(from, to) };
}

/** The integer that a text denotes, by the rules of JSON Schema validators that coerce text. */
function integer(text: string, name: string): number {
  const value = Number(text);
  if (text !== "" && Number.isInteger(value)) return value;
  throw badRequest(`${name} must be integer`);
}

function bounded(
  given: readonly string[] | undefined,
  name: string,
  usual: number,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  if (given === undefined) return usual;
  const value = integer(given.length === 1 ? given[0] ?? "" : "", `querystring/${name}`);
  if (value > most) throw badRequest(`querystring/${name} must be <= ${most}`);
  if (value < least) throw badRequest(`querystring/${name} must be >= ${least}`);
  return value;
}

function oneOf(given: readonly string[] | undefined, name: string, values: readonly string[]): string | undefined {
  if (given === undefined) return undefined;
  const [value = ""] = given;
  if (given.length !== 1) throw badRequest(`querystring/${name} must be string`);
  if (values.includes(value)) return value;
  throw badRequest(`querystring/${name} must be equal to one of the allowed values`);
}

const MOST = 2 ** 31 - 1;

function readRange(from: string | undefined, to: string | undefined): PlaceRange {
  const range = { from: readPlace(from), to: readPlace(to) };
  if (range.from && range.to && isAfter(range.from, range.to)) throw malformed.range();
  return range;
}

function readPlace(text: string | undefined): ChainPlace | undefined {
  if (text === undefined) return undefined;
  const [, height = "", index] = /^(\d+)(?::(\d+))?$/.exec(text) ?? [];
  if (height === "" || Number(height) > MOST || Number(index ?? 0) > MOST) throw malformed.range();
  return { height: Number(height), ...(index === undefined ? {} : { index: Number(index) }) };
}

function isAfter(from: ChainPlace, to: ChainPlace): boolean {
  if (from.height !== to.height) return from.height > to.height;
  return from.index !== undefined && to.index !== undefined && from.index > to.index;
}
