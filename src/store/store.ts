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
import { readDatabaseUrl } from "#src/store/databaseUrl.ts";
import { openPool } from "#src/store/pool.ts";
import { type PrimaryWatch, SERVER_STATE, type ServerState, watchPrimary } from "#src/store/primary.ts";
import { onlyRow } from "#src/store/rows.ts";
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

/**
 * Opens a pool of at most `max` connections, 10 by default. It connects at the first query; where the URL names several
 * hosts, to the one that takes writes. Throws a `TypeError` where the URL is none.
 */
export function openStore(
  url: string,
  options: {
    max?: number;
    application?: string;
    settings?: Settings;
    writes?: Store["writes"];
    primary?: PrimaryWatch | undefined;
  } = {},
): Store {
  const writes = options.writes ?? { failure: undefined };
  const onError = (error: unknown) => {
    if (UNWRITABLE.test(errorCode(error))) writes.failure = reason(error);
  };
  const application = options.application ?? "arbor";
  const hosts = urlsOf(url);
  const ownPrimary = options.primary === undefined && hosts.length > 1 ? watchServers(hosts) : undefined;
  const primary = options.primary ?? ownPrimary;
  const maker = makerOf(hosts[0] ?? url, application);
  const setUp = settingsStatement({ ...CONNECTION_SETTINGS, ...options.settings });
  const pool = openPool(maker, options.max ?? 10, { setUp, primary, onError });
  const separate: Store[] = [];
  return {
    sql: traced(pool.sql),
    writes,
    beside: (other) => {
      const store = openStore(url, {
        application,
        writes,
        primary,
        ...other,
        settings: { ...options.settings, ...other.settings },
      });
      separate.push(store);
      return store;
    },
    close: async () => {
      await Promise.all([pool.end(5), ...separate.map((store) => store.close())]);
      await ownPrimary?.stop();
    },
  };
}

/** The URL of each host. Throws a `TypeError` where it is none; the options refuse it before. */
function urlsOf(url: string): readonly string[] {
  const read = readDatabaseUrl(url);
  if (!read.ok) throw new TypeError(`The URL of the database ${read.error.message}.`);
  return read.value;
}

/** Watches which server takes writes, with a connection to each. */
function watchServers(urls: readonly string[]): PrimaryWatch {
  return watchPrimary(urls, (url) => {
    const { sql, end } = openPool(makerOf(url, "arbor primary"), 1);
    return {
      ask: async () => await onlyRow(sql.unsafe<ServerState[]>(SERVER_STATE)),
      end: () => end(0),
    };
  });
}

/** Makes the settings by statements: a pooler refuses them as parameters of a connection (08P01), or drops them. */
function settingsStatement(settings: Settings): string {
  // unlike with `set`, a value may be a list, as of `search_path`
  return `select ${Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', false)`).join()}`;
}

/** A pool of the library that only creates queries, with the options of every connection. */
function makerOf(url: string, application: string): Sql {
  const maker = postgres(url, {
    // Connections stay open: `openPool` treats every closed connection as lost.
    idle_timeout: undefined,
    max_lifetime: null,
    connect_timeout: 10,
    onnotice,
    types,
    fetch_types: false,
    connection: { application_name: application },
  }) as unknown as Sql;

  const arrayTypesOf = memberOf(memberOf(maker.options, "shared"), "typeArrayMap");
  if (typeof arrayTypesOf !== "object" || arrayTypesOf === null) throw new TypeError("postgres.js has no array types");
  Object.assign(arrayTypesOf, arraysOf);
  return maker;
}

/**
 * Fails the statement whose commit a server stopped confirming with its synchronous replica, because something cancelled
 * the wait: it is durable on that server alone, and a promotion of the replica loses it. The library has the answer to a
 * statement at its end, and rejects it with what is thrown before.
 */
function onnotice({ routine, message }: postgres.Notice): void {
  if (routine !== "SyncRepWaitForLSN") return;
  throw Object.assign(new Error(`the commit may be on one server only: ${message}`), { code: NOT_REPLICATED });
}

/** Own code of a statement whose commit the synchronous replica has not confirmed. */
const NOT_REPLICATED = "COMMIT_NOT_REPLICATED";

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
  // The server takes no writes: another one may, which the next connection finds.
  "25006",
  // A right that the role had at the start was taken from it: it may come back.
  "42501",
  NOT_REPLICATED,
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
