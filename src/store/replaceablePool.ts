/**
 * Works around faults of postgres.js with lost connections. It uses private members of exactly this version, listed in
 * the interfaces `Connection`, `Queue` and `Query`; a test fails when the version changes.
 *
 * The faults, reproduced by cutting connections at chosen and at random moments:
 *
 * - A statement executed on a connection without a socket is written in the next turn of the event loop and throws
 *   there, where no caller can catch it (porsager/postgres issues 1066, 1154, 1208). A transaction does this with its
 *   rollback or commit and with further statements of its work; after a reconnection those would run outside the
 *   transaction (pull request 1155). Therefore a transaction whose connection closed refuses every further statement,
 *   including the library's own.
 * - A statement that was passed to a connection but not sent when it closed stays in its buffer, so that the connection
 *   hangs until the connect timeout when it is used again. Therefore a pool that lost a connection finishes its open
 *   statements, and a new pool replaces it. The library's own `end` of a pool would leave connections open.
 * - A transaction whose first statement fills the socket's buffer is not given its connection: statements of others on
 *   that connection then run within the transaction, which never ends. Therefore it is given the connection in this
 *   case too.
 * - A connection that closes while it reads the types of arrays, which is its first query by default, rejects a promise
 *   without a handler. Therefore `fetch_types` is off (`arrays.ts`).
 */
import type postgres from "postgres";

type AnySql = postgres.Sql<{ int8: bigint; json: unknown }>;

/** Seconds that a pool which lost a connection has to finish its open statements. */
const GRACE_S = 1;

/**
 * Creates a pool, which must call `onClose` with the id of every connection that closes. `before` are the parsed
 * options of the pool that it replaces.
 */
export type MakePool = (onClose: (id: number) => void, before: AnySql["options"] | undefined) => AnySql;

/** A handle for a pool that is replaced when it loses a connection. The pool must not close connections by itself. */
export function openReplaceablePool(make: MakePool): { readonly sql: AnySql; end(seconds: number): Promise<void> } {
  const retiring = new Set<Promise<void>>();
  let ended = false;
  let current = open(undefined);

  function open(before: AnySql["options"] | undefined): Pool {
    const sql = make((id) => {
      pool.closes++;
      lose(id);
      if (pool !== current || ended) return;
      current = open(sql.options);
      const left = end(pool, GRACE_S).then(() => void retiring.delete(left));
      retiring.add(left);
    }, before);
    const pool = { sql, closes: 0 };
    const lose = guardTransactions(sql);
    return pool;
  }

  const sql = new Proxy(current.sql, {
    apply: (_, self, args) => Reflect.apply(current.sql as unknown as (...args: unknown[]) => unknown, self, args),
    get: (_, name) => Reflect.get(current.sql, name),
  });
  return {
    sql,
    end: async (seconds) => {
      ended = true;
      await Promise.all([end(current, seconds), ...retiring]);
    },
  };
}

/** A pool of postgres.js. */
interface Pool {
  readonly sql: AnySql;
  /** Number of connections that have closed. */
  closes: number;
}

/**
 * Ends a pool when its running and waiting statements are done, at the latest after `seconds`. The library's `end`
 * alone leaves connections open: it ends each connection once, and connects again for waiting statements. Therefore
 * connections are ended until none closes any more, and then no new one can be opened.
 */
async function end(pool: Pool, seconds: number): Promise<void> {
  // Missing in the library's types: ends each connection when it is idle, but not the pool.
  const { close } = pool.sql as AnySql & { close(): Promise<void> };
  const quiet = async () => {
    for (let seen = -1; seen !== pool.closes;) {
      seen = pool.closes;
      // Twice: the connections that the first call ended may not be closed yet.
      await close();
      await close();
    }
  };
  // The library's `end` also ends the pool of `listen`, which is not used here, and destroys what is left after the
  // timeout.
  Object.assign(pool.sql.listen, { sql: { end: quiet } });
  await pool.sql.end({ timeout: seconds });
  Object.assign(pool.sql.options, { socket: () => Promise.reject(lostError()) });
}

/** The private members of a connection that are used here. */
interface Connection {
  readonly id: number;
  /** Sends a query; whether the connection accepts more. Transactions and pools call it as a member. */
  execute(query: Query): unknown;
  /** While a transaction has the connection: executes the next of its waiting statements, if there is one. */
  readonly reserved: (() => void) | null;
  queue: Queue;
}

/** The connections in one state. */
interface Queue {
  push(connection: Connection): unknown;
  remove(connection: Connection): unknown;
}

type Handler = (query: Query) => unknown;

interface Query {
  /** Executes the query. Each pool, transaction and savepoint has its own handler. */
  readonly handler: Handler;
  /** `onexecute` of the query that begins a transaction gives the transaction its connection, once. */
  readonly options?: { readonly onexecute?: (connection: Connection) => void };
  reject(error: unknown): void;
}

type Inner = postgres.TransactionSql<{ int8: bigint; json: unknown }>;
type Work = (sql: Inner) => unknown;

/** A transaction with its savepoints. */
interface Transaction {
  lost: boolean;
  /** Number of statements refused after the loss. */
  refused: number;
  /** Rejects when it is lost. */
  readonly loss: Promise<never>;
  lose(): void;
}

function newTransaction(): Transaction {
  let reject: (error: unknown) => void;
  const loss = new Promise<never>((_, no) => reject = no);
  loss.catch(() => {});
  const transaction: Transaction = {
    lost: false,
    refused: 0,
    loss,
    lose: () => {
      transaction.lost = true;
      reject(lostError());
    },
  };
  return transaction;
}

function refuse(transaction: Transaction, query: Query): void {
  transaction.refused++;
  query.reject(lostError());
}

/**
 * Makes the transactions of a pool refuse statements after their connection closed; returns the function to call with
 * the id of a closed connection. `begin` of the library synchronously calls the pool's `unsafe` with the option
 * `onexecute`, which receives the connection: there a transaction is matched with its connection.
 */
function guardTransactions(pool: AnySql): (id: number) => void {
  const own = handlerOf(pool);
  const owners = new WeakMap<object, Transaction>();
  /** By connection id: its current or last transaction, and the function that marks it lost. */
  const assigned = new Map<number, { readonly transaction: Transaction; lose(): void }>();
  let starting: Transaction | undefined;

  /**
   * Wraps the work of a transaction or a savepoint, so that its statements are recognised, and refused before they wait
   * for a connection that has since been given to others.
   */
  const guardWork = (transaction: Transaction, work: Work): Work => (inner) => {
    const handler = handlerOf(inner);
    const guarded = (query: Query) => transaction.lost ? refuse(transaction, query) : handler(query);
    const guard = <T>(made: T): T =>
      (made as { handler?: unknown }).handler === handler
        ? Object.assign(made as object, { handler: guarded }) as T
        : made;
    owners.set(handler, transaction);
    owners.set(guarded, transaction);
    const { savepoint, unsafe } = inner as unknown as Record<string, (...args: unknown[]) => unknown>;
    Object.assign(inner, {
      savepoint: (...args: unknown[]) =>
        transaction.lost
          ? Promise.reject(lostError())
          : Promise.race([savepoint!(...guardArguments(transaction, args)), transaction.loss]),
      unsafe: (...args: unknown[]) => guard(unsafe!(...args)),
    });
    return work(
      new Proxy(inner, {
        apply: (target, self, args) =>
          guard(Reflect.apply(target as unknown as (...args: unknown[]) => unknown, self, args)),
      }),
    );
  };

  const guardArguments = (transaction: Transaction, args: unknown[]) =>
    args.map((each) => typeof each === "function" ? guardWork(transaction, each as Work) : each);

  const assign = (transaction: Transaction, connection: Connection) => {
    if (!assigned.has(connection.id)) {
      const { execute } = connection;
      connection.execute = (query) => {
        // The first statement of a savepoint comes before its work, so it has no owner yet.
        const owner = query.handler === own
          ? undefined
          : owners.get(query.handler) ?? assigned.get(connection.id)?.transaction;
        if (owner?.lost) {
          refuse(owner, query);
          return true;
        }
        const more = execute(query);
        if (more === false) query.options?.onexecute?.(connection);
        return more;
      };
    }
    const next = connection.reserved;
    const lose = () => {
      transaction.lose();
      // Waiting statements would never be answered: refuse them. The connection stays in the queue of closed ones.
      const { queue } = connection;
      for (let before = -1; before !== transaction.refused;) {
        before = transaction.refused;
        next?.();
      }
      connection.queue.remove(connection);
      queue.push(connection);
      connection.queue = queue;
    };
    assigned.set(connection.id, { transaction, lose });
  };

  const begin = pool.begin as (...args: unknown[]) => Promise<unknown>;
  const unsafe = pool.unsafe as (...args: unknown[]) => unknown;
  Object.assign(pool, {
    begin: (...args: unknown[]) => {
      const transaction = newTransaction();
      starting = transaction;
      try {
        return begin(...guardArguments(transaction, args));
      } finally {
        starting = undefined;
      }
    },
    unsafe: (...args: unknown[]) => {
      const transaction = starting;
      if (transaction === undefined) return unsafe(...args);
      const [text, values, options] = args as [string, [], { onexecute(connection: Connection): void }];
      let given = false;
      const onexecute = (connection: Connection) => {
        if (given) return;
        given = true;
        options.onexecute(connection);
        assign(transaction, connection);
      };
      return unsafe(text, values, { ...options, onexecute });
    },
  });
  return (id) => {
    assigned.get(id)?.lose();
  };
}

/**
 * The handler of a pool, a transaction or a savepoint. The query created here is not awaited, so it is never executed.
 */
function handlerOf(sql: AnySql | Inner): Handler {
  return (sql.unsafe("") as unknown as Query).handler;
}

/** The error of a statement whose connection is lost, with the library's code. */
function lostError(): Error {
  return Object.assign(new Error("the connection to the database was lost"), { code: "CONNECTION_CLOSED" });
}
