/**
 * The PostgreSQL pool. Each module owns its SQL and runs it through this handle; connections are opened here only.
 *
 * Assumptions: `synchronous_commit` and `fsync` are on, so that a confirmed commit survives a crash. A lost connection
 * is an ordinary event, which `isRetryable` distinguishes from a failed statement.
 */
import postgres from "postgres";
import { errorCode } from "#src/base/errorCode.ts";
import { parseWritten, toJson } from "#src/base/json.ts";
import { reason } from "#src/base/log.ts";
import { memberOf } from "#src/base/member.ts";
import { arraysOf, arrayTypes } from "#src/store/arrays.ts";
import { byteType } from "#src/store/bytes.ts";
import { openPool } from "#src/store/pool.ts";
import { traced } from "#src/store/traced.ts";

/** A pool. `sql` is postgres.js with `bigint` for int8 and exact JSON. */
export interface Store {
  readonly sql: Sql;
  /** The last failure that said that the database cannot be written, until `probeWrites` has written. */
  readonly writes: { failure: string | undefined };
  /** Opens a separate pool on the same database, with further settings. It is closed with this one. */
  beside(options: { max: number; settings: Settings }): Store;
  close(): Promise<void>;
}

/** PostgreSQL settings of every connection of a pool. */
export type Settings = { readonly [name: string]: string };

/**
 * What every connection sets, whatever the server, the database and the role have: the service relies on it.
 *
 * - Lookups avoid sequential scans by a cost of 1e10 (`readPool.ts`), above which PostgreSQL compiles each plan with LLVM
 *   for a second or more: no `jit`.
 * - Dates, intervals and bytes are parsed in these forms; statements are written for these rules of quoting.
 * - Fenced statements (`statement.ts`) see what was committed before each of them.
 */
export const CONNECTION_SETTINGS: Settings = {
  jit: "off",
  TimeZone: "UTC",
  DateStyle: "ISO, MDY",
  IntervalStyle: "postgres",
  bytea_output: "hex",
  extra_float_digits: "1",
  standard_conforming_strings: "on",
  default_transaction_isolation: "read committed",
};

const types = {
  int8: { to: 20, from: [20], serialize: (x: bigint | number) => x.toString(), parse: (x: string) => BigInt(x) },
  json: {
    to: 3802,
    from: [114, 3802],
    serialize: (x: unknown) => toJson(x),
    parse: (x: string) => parseWritten(x),
  },
  bytea: byteType,
  ...arrayTypes,
};

export type Sql = postgres.Sql<{ int8: bigint; json: unknown }>;
/** A pool or a transaction, for functions that may run inside a transaction. */
export type Queries = Sql | postgres.TransactionSql<{ int8: bigint; json: unknown }>;
/** A fragment of a query. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

/** Opens a pool of at most `max` connections, 10 by default. It connects at the first query. */
export function openStore(
  url: string,
  options: { max?: number; application?: string; settings?: Settings; writes?: Store["writes"] } = {},
): Store {
  const writes = options.writes ?? { failure: undefined };
  const onError = (error: unknown) => {
    if (UNWRITABLE.test(errorCode(error))) writes.failure = reason(error);
  };
  const application = options.application ?? "arbor";
  const maker = postgres(url, {
    // Connections stay open: `openPool` treats every closed connection as lost.
    idle_timeout: undefined,
    max_lifetime: null,
    connect_timeout: 10,
    onnotice: () => {},
    types,
    fetch_types: false,
    connection: { application_name: application, ...CONNECTION_SETTINGS, ...options.settings },
  }) as unknown as Sql;
  const arrayTypesOf = memberOf(memberOf(maker.options, "shared"), "typeArrayMap");
  if (typeof arrayTypesOf !== "object" || arrayTypesOf === null) throw new TypeError("postgres.js has no array types");
  Object.assign(arrayTypesOf, arraysOf);
  const pool = openPool(maker, options.max ?? 10, onError);
  const separate: Store[] = [];
  return {
    sql: traced(pool.sql),
    writes,
    beside: (other) => {
      const store = openStore(url, {
        application,
        writes,
        ...other,
        settings: { ...options.settings, ...other.settings },
      });
      separate.push(store);
      return store;
    },
    close: async () => void await Promise.all([pool.end(5), ...separate.map((store) => store.close())]),
  };
}

/** SQLSTATE of a full disk, of errors of the disk and of a server that takes no writes. */
const UNWRITABLE = /^(53100|58030|25006)$/;

/** Codes of the client library, of sockets and of PostgreSQL. */
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
 * Classes of SQLSTATE: connection (08), insufficient resources (53, including too many connections), operator
 * intervention (57: shutdown, start, a cancelled or timed-out statement), and system errors such as of the disk (58).
 */
const RETRYABLE_CLASS = /^(08|53|57|58)[0-9A-Z]{3}$/;

/**
 * Whether the same statement may succeed later: the server or the connection was lost, the server lacks resources, or
 * the statement was chosen as the victim of a conflict.
 */
export function isRetryable(error: unknown): boolean {
  const code = errorCode(error);
  return RETRYABLE.has(code) || RETRYABLE_CLASS.test(code);
}
