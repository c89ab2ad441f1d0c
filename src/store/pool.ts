/**
 * A pool whose connections may be lost at any moment. Each of its connections is a pool of postgres.js of one
 * connection, which is thrown away when it closes; this file chooses the connection of a statement and runs
 * transactions. It uses private members of exactly one version of the library, listed in the interface `Query`; a test
 * fails when the version changes.
 *
 * The faults of the library's own pool and transactions, reproduced by cutting connections at chosen and at random
 * moments:
 *
 * - A statement executed on a connection without a socket is written in the next turn of the event loop and throws
 *   there, where no caller can catch it (porsager/postgres issues 1066, 1154, 1208). A transaction does this with its
 *   rollback or commit and with further statements of its work; after a reconnection those would run outside the
 *   transaction (pull request 1155). Here a connection that closed refuses every further statement.
 * - A statement that was passed to a connection but not sent when it closed stays in its buffer, so that the connection
 *   hangs until the connect timeout when it is used again. Here a connection that closed is never used again.
 * - A transaction whose first statement fills the socket's buffer, or is the last one that its connection accepts, is
 *   not given its connection: statements of others on that connection then run within the transaction, which never
 *   ends. Here a transaction has its connection before its first statement.
 * - A statement that fails after rows have arrived leaves the connection's count of them: the rows of the next one begin
 *   behind as many holes (issues 1119, 1181). Here a statement appends its rows itself.
 * - A COPY occupies its connection until its stream ends, and without end when that fails or stops (issues 499, 1016, 1173).
 *   Here its connection is lost.
 * - A connection that closes at its start, without an error, is opened again at once and without end, as behind a proxy
 *   whose server is away: its statement waits without end. Here a connection that has not started in time is lost.
 * - A connection that closes while it reads the types of arrays, which is its first query by default, rejects a promise
 *   without a handler. Therefore `fetch_types` is off (`arrays.ts`).
 */
import postgres from "postgres";
import type { Socket } from "node:net";
import { inTime } from "#src/base/clock.ts";
import { errorCode } from "#src/base/errorCode.ts";
import { memberOf } from "#src/base/member.ts";
import { elementAt } from "#src/base/present.ts";
import { dial, type PrimaryWatch } from "#src/store/primary.ts";

type Sql = postgres.Sql<{ int8: bigint; json: unknown }>;
type Work = (sql: Sql) => unknown;
/** Executes a query. Each pool of the library has one, and each transaction and savepoint here. */
type Handler = (query: Query) => void;

/** The private members of a query that are used here. */
interface Query extends Promise<unknown> {
  handler: Handler;
  /** Whether it was passed to its handler; it does so by itself when it is awaited. */
  executed?: boolean;
  /** Set for a cursor, whose promise does not settle. */
  readonly cursorFn?: unknown;
  /** Takes each row, with the result that the connection is collecting. */
  forEachFn?: (row: unknown, result: unknown[]) => void;
  reject(error: unknown): void;
}

interface Connection {
  readonly sql: Sql;
  /** Gives it up if it has not started by then. */
  readonly late: ReturnType<typeof setTimeout>;
  readonly handler: Handler;
  /** Number of statements and transactions that it runs. */
  users: number;
  /** Rejects the transaction that has it for itself. */
  abort?: ((error: unknown) => void) | undefined;
  lost: boolean;
  /** Statements without an answer. The library forgets those that wait for a connection that was never opened. */
  readonly pending: Set<Query>;
  /** Why the server refused it or its first statements. */
  refused?: unknown;
  /** The server, where several are known. */
  server?: { readonly url: string; readonly socket: Socket };
  /** Gives it up: what it has not answered is refused, and it does not connect again. */
  lose(): void;
  /** Whether it takes no more statements: it or another connection was lost, and this one may be next. */
  retired: boolean;
}

export interface PoolOptions {
  readonly setUp?: string;
  readonly primary?: PrimaryWatch | undefined;
  readonly onError?: (error: unknown) => void;
}

/**
 * Opens a pool of at most `max` connections with the options of `maker`, a pool that only creates queries. A statement
 * gets an idle connection, else a new one, else the one with the fewest statements; a transaction gets it for itself.
 * `onError` is called with the error of each that fails. Each connection first runs the statements of `setUp`. With
 * `primary` they are opened to the server that it finds, and those to another one are given up.
 *
 * It is one function, because its parts share the connections and what waits for them.
 */
export function openPool(
  maker: Sql,
  max: number,
  { setUp, primary, onError = () => {} }: PoolOptions = {},
): { readonly sql: Sql; end(seconds: number): Promise<void> } {
  const connections = new Set<Connection>();
  /** Users that wait because each connection has a transaction. */
  const waiting: ((connection: Connection) => void)[] = [];
  let ended = false;
  let onIdle = () => {};

  const connect = (): Connection => {
    const onclose = () => connection.lose();
    const { connect_timeout: seconds, host } = maker.options;
    // each host may take the whole time
    const late = setTimeout(() => connection.lose(), seconds * 1_000 * Math.max(1, host.length));
    // the server's first parameter: with an object of its own, the library reports those of every connection
    const onparameter = () => clearTimeout(late);
    const socket = primary && (async () => {
      const url = await primary.find();
      const socket = await dial(url);
      connection.server = { url, socket };
      return socket;
    });
    const options = { ...maker.options, max: 1, onclose, parameters: {}, onparameter, ...socket && { socket } };
    const sql = postgres(options as never) as unknown as Sql;
    const connection: Connection = {
      sql,
      late,
      handler: handlerOf(sql),
      users: 0,
      lost: false,
      pending: new Set(),
      retired: false,
      lose: () => lose(connection),
    };
    connections.add(connection);
    if (setUp !== undefined) start(connection, setUp);
    return connection;
  };
  const start = (connection: Connection, setUp: string) => {
    const query = maker.unsafe(setUp) as unknown as Query;
    query.executed = true;
    const { reject } = query;
    query.reject = (error) => {
      connection.refused ??= error;
      reject(error);
    };
    connection.handler(query);
    query.catch(connection.lose);
  };
  const choose = (): Connection | undefined => {
    let least: Connection | undefined;
    let usable = 0;
    for (const one of connections) {
      if (one.retired) continue;
      usable++;
      if (one.abort === undefined && (least === undefined || one.users < least.users)) least = one;
    }
    return least?.users === 0 || usable >= max ? least : connect();
  };
  const serve = () => {
    while (waiting.length > 0) {
      const connection = choose();
      if (connection === undefined) return;
      waiting.shift()?.(connection);
    }
    if (ended && [...connections].every(({ users }) => users === 0)) onIdle();
  };
  const use = (work: (connection: Connection) => PromiseLike<unknown>) => {
    waiting.push((connection) => {
      connection.users++;
      const done = () => {
        connection.users--;
        closeRetired(connection);
        serve();
      };
      work(connection).then(done, done);
    });
    serve();
  };
  const closeRetired = ({ retired, users, sql }: Connection) => {
    if (retired && users === 0) void sql.end({ timeout: 1 });
  };
  const lose = (connection: Connection) => {
    if (!connections.delete(connection)) return;
    const { sql, abort, retired, server, pending } = connection;
    connection.lost = true;
    clearTimeout(connection.late);
    abort?.(errorOf(connection));
    Object.assign(sql.options, { socket: () => Promise.reject(errorOf(connection)) });
    for (const query of pending) query.reject(errorOf(connection));
    void sql.end({ timeout: 0 });
    // without the farewell of the library, which a server that does not answer never takes
    server?.socket.destroy();
    // What ended one connection has often ended the others, which may not have noticed yet.
    if (!retired) retireAll();
    serve();
  };
  /** Has later statements use new connections. */
  const retireAll = () => {
    primary?.doubt();
    for (const connection of connections) {
      connection.retired = true;
      closeRetired(connection);
    }
  };
  const failed = (error: unknown) => {
    onError(error);
    // the server takes no writes: behind its name, or among its neighbours, another one may
    if (errorCode(error) === READ_ONLY) retireAll();
  };
  primary?.onMoved((url) => {
    for (const connection of [...connections]) {
      if (connection.server !== undefined && connection.server.url !== url) connection.lose();
    }
  });

  const transaction = (...args: [...options: string[], work: Work]) => {
    if (ended) return maker.begin(() => {});
    return new Promise((resolve, reject) =>
      use(async (connection) => {
        connection.abort = reject;
        await transact(maker, connection, args).then(resolve, (error) => {
          failed(error);
          reject(error);
        });
        connection.abort = undefined;
      })
    );
  };
  const unsupported = () => Promise.reject(new TypeError("This pool runs statements and transactions only."));
  const ownHandler = handlerOf(maker);
  const handler: Handler = (query) => {
    query.catch(failed);
    if (ended) return ownHandler(query);
    if (query.cursorFn) return query.reject(new TypeError("A cursor needs a transaction."));
    use((connection) => {
      execute(connection, query);
      return query;
    });
  };
  return {
    sql: queriesOf(maker, handler, { begin: transaction, reserve: unsupported, listen: unsupported }),
    end: async (seconds) => {
      await maker.end();
      ended = true;
      await inTime(
        new Promise<void>((resolve) => {
          onIdle = resolve;
          serve();
        }),
        seconds * 1_000,
      );
      const late = waiting.splice(0);
      const open = [...connections];
      await Promise.all(open.map(({ sql }) => sql.end({ timeout: 1 })));
      for (const connection of open) connection.lose();
      // On a connection that is given up they are refused.
      for (const work of late) work(elementAt(open, 0));
    },
  };
}

/** Runs a transaction on a connection that it has for itself. */
async function transact(maker: Sql, connection: Connection, args: [...options: string[], work: Work]) {
  let savepoints = 0;
  const scope = async (work: Work, begin: string, rollback: string, commit?: string): Promise<unknown> => {
    let failure: unknown;
    const handler: Handler = (query) => {
      execute(connection, query);
      query.catch((error) => failure ??= error);
    };
    const savepoint = (work: Work) => {
      const name = `s${savepoints++}`;
      return scope(work, `savepoint ${name}`, `rollback to ${name}`);
    };
    const sql = queriesOf(maker, handler, { savepoint });
    await sql.unsafe(begin);
    let result;
    try {
      result = await work(sql);
      // A failed statement has ended the transaction, even if the work went on.
      if (failure !== undefined) throw failure;
    } catch (error) {
      await sql.unsafe(rollback);
      const isConsequence = errorCode(error) === "25P02";
      throw isConsequence && failure || error;
    }
    if (commit !== undefined) await sql.unsafe(commit);
    return result;
  };
  const options = args.slice(0, -1);
  const work = args.at(-1);
  if (typeof work !== "function") throw new TypeError("a transaction has no work");
  return await scope(work, `begin ${options.join("")}`, "rollback", "commit");
}

/** SQLSTATE of a write on a server or in a transaction that takes none. */
const READ_ONLY = "25006";

/** Codes of the library and of sockets for a lost connection; those of PostgreSQL begin otherwise. */
const LOST = /^(CONN|COPY_|E)/;

function execute(connection: Connection, query: Query): void {
  if (connection.lost) return query.reject(errorOf(connection));
  query.forEachFn ??= (row, result) => void result.push(row);
  connection.handler(query);
  // The socket's error comes before its end.
  const { pending, lose } = connection;
  pending.add(query);
  query.then((result) => {
    pending.delete(query);
    if (isStream(result)) lose();
  }, (error) => {
    pending.delete(query);
    if (LOST.test(error?.code)) lose();
  });
}

/** Whether a result is the stream of a COPY. */
function isStream(result: unknown): boolean {
  return typeof memberOf(result, "pipe") === "function";
}

/** The handle `maker` with another handler of its queries, and some members in place of its own. */
function queriesOf(maker: Sql, handler: Handler, members: object): Sql {
  const handled = (made: unknown) => made instanceof Promise ? Object.assign(made, { handler }) : made;
  const own = { ...members, unsafe: (...args: Parameters<Sql["unsafe"]>) => handled(maker.unsafe(...args)) };
  return new Proxy(maker, {
    apply: (target, self, args) => handled(Reflect.apply(target, self, args)),
    get: (target, name) => Reflect.get(Object.hasOwn(own, name) ? own : target, name),
  });
}

/** The handler of a pool of the library. The query created here is not awaited, so it is never executed. */
function handlerOf(sql: Sql): Handler {
  const handler = memberOf(sql.unsafe(""), "handler");
  if (typeof handler !== "function") throw new TypeError("a query of postgres.js has no handler");
  return (query) => handler(query);
}

/** The error of a statement whose connection is lost: why the server refused it, else one with the library's code. */
function errorOf({ refused }: Connection): unknown {
  return refused ?? Object.assign(new Error("the connection to the database was lost"), { code: "CONNECTION_CLOSED" });
}
