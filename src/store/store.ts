/**
 * The PostgreSQL pool. Rooms own their SQL and query through this handle; nobody else opens a connection.
 *
 * Hypotheses: `synchronous_commit` and `fsync` stay on, so that what a statement answered survives a crash; a lost
 * connection is an ordinary event, which `isRetryable` tells apart from a failed statement.
 */
import postgres from "postgres";
import { parseWritten, toJson } from "#src/base/json.ts";
import { arraysOf, arrayTypes } from "#src/store/arrays.ts";
import { openReplaceablePool } from "#src/store/replaceablePool.ts";
import { traced } from "#src/store/traced.ts";

/** The pool, and templates bound to it: `store.sql` is postgres.js with `bigint` for int8 and exact JSON. */
export interface Store {
  readonly sql: Sql;
  /** A pool of its own on the same database, with settings of its own; it ends with this one. */
  beside(options: { max: number; settings: Settings }): Store;
  close(): Promise<void>;
}

/** Settings of PostgreSQL for every connection of a pool. */
export type Settings = { readonly [name: string]: string };

const types = {
  int8: { to: 20, from: [20], serialize: (x: bigint | number) => x.toString(), parse: (x: string) => BigInt(x) },
  json: {
    to: 3802,
    from: [114, 3802],
    serialize: (x: unknown) => toJson(x),
    parse: (x: string) => parseWritten(x),
  },
  ...arrayTypes,
};

export type Sql = postgres.Sql<{ int8: bigint; json: unknown }>;
/** What a function needs that may run inside a transaction. */
export type Queries = Sql | postgres.TransactionSql<{ int8: bigint; json: unknown }>;
/** A part of a query. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

/**
 * Statements on their way on one connection. The library forgets to give a transaction its connection where the statement that begins it is the
 * last one that the connection takes: statements of others would then run within that transaction, and be lost with it.
 */
const PIPELINE = 2 ** 31;

/** Opens a pool of at most `max` connections; nothing is connected before the first query. */
export function openStore(
  url: string,
  options: { max?: number; application?: string; settings?: Settings } = {},
): Store {
  const application = options.application ?? "arbor";
  const pool = openReplaceablePool((onclose, before) => {
    if (before) return postgres({ ...before, onclose } as never) as unknown as Sql;
    const made = postgres(url, {
      max: options.max ?? 10,
      // Connections stay until they are lost: `openReplaceablePool` takes each one that closes for that.
      idle_timeout: undefined,
      max_lifetime: null,
      connect_timeout: 10,
      // an option that the library's types leave out
      ...{ max_pipeline: PIPELINE } as object,
      onnotice: () => {},
      onclose,
      types,
      fetch_types: false,
      connection: { application_name: application, ...options.settings },
    }) as unknown as Sql;
    Object.assign((made.options as unknown as { shared: { typeArrayMap: object } }).shared.typeArrayMap, arraysOf);
    return made;
  });
  const besides: Store[] = [];
  return {
    sql: traced(pool.sql),
    beside: (other) => {
      const store = openStore(url, { application, ...other });
      besides.push(store);
      return store;
    },
    close: async () => void await Promise.all([pool.end(5), ...besides.map((store) => store.close())]),
  };
}

/** Codes of the client's own and of sockets. */
const RETRYABLE = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EPIPE",
  "ETIMEDOUT",
  // Serialization failure, deadlock, a row that another transaction holds.
  "40001",
  "40P01",
  "55P03",
]);
/**
 * Classes of SQLSTATE: connection (08), insufficient resources (53, too many connections among them), operator intervention (57: shutdown,
 * start, a cancelled or timed-out statement), and system errors such as of the disk (58).
 */
const RETRYABLE_CLASS = /^(08|53|57|58)[0-9A-Z]{3}$/;

/**
 * Whether an error says that the server or the connection went away, that the server is short of something, or that a conflict chose this
 * statement: the same statement may succeed later.
 */
export function isRetryable(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && (RETRYABLE.has(code) || RETRYABLE_CLASS.test(code));
}
