/**
 * What postgres.js 3.4.9 does not survive by itself: a connection that is lost in the middle of something.
 *
 * Hypotheses, seen by cutting connections at chosen and at random moments:
 *
 * - What is executed on a connection whose socket is gone is written one turn later, to nothing, and throws where nobody can catch it
 *   (porsager/postgres issues 1066, 1154, 1208). A transaction does so: its rollback or commit, or whatever its work still asks for; and once that
 *   connection is connected again, a statement of the work would run outside its transaction (pull request 1155). So a transaction
 *   whose connection closed refuses everything from that very moment, what the library says by itself included.
 * - A statement that was handed over but not yet sent when its connection closed stays in that connection's buffer for ever, so that the
 *   connection, once used again, hangs until the connect timeout. So a pool that lost a connection is left to end what it has under way, and a new
 *   one takes its place; the library's own end of a pool would leave connections open.
 * - A transaction whose first statement is the one after which the socket has enough for now is not given its connection: the statement runs, and what
 *   others execute there runs within a transaction that nobody ends. So it is given it all the same.
 * - A connection that closes while it asks for the types of arrays, as each one does first unless told otherwise, rejects a promise that nobody has.
 */
import type postgres from "postgres";

type AnySql = postgres.Sql<{ int8: bigint; json: unknown }>;

/** Seconds that a pool which lost a connection has to end what its other connections do. */
const GRACE_S = 1;

/**
 * Makes a pool; `onClose` is called with the number of a connection whenever one closes, for whatever reason. `before` are the options of the
 * pool that it replaces, as the library has parsed and completed them.
 */
export type MakePool = (onClose: (id: number) => void, before: AnySql["options"] | undefined) => AnySql;

/** A pool that is replaced whenever it lost a connection, behind one handle that stays. Its connections must not close by themselves. */
export function openReplaceablePool(make: MakePool): { readonly sql: AnySql; end(seconds: number): Promise<void> } {
  const leaving = new Set<Promise<void>>();
  let ended = false;
  let current = open(undefined);

  function open(before: AnySql["options"] | undefined): Pool {
    const sql = make((id) => {
      pool.closes++;
      lose(id);
      if (pool !== current || ended) return;
      current = open(sql.options);
      const left = end(pool, GRACE_S).then(() => void leaving.delete(left));
      leaving.add(left);
    }, before);
    const pool = { sql, closes: 0 };
    const lose = refusing(sql);
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
      await Promise.all([end(current, seconds), ...leaving]);
    },
  };
}

/** A pool of the library's. */
interface Pool {
  readonly sql: AnySql;
  /** How often a connection of it has closed. */
  closes: number;
}

/**
 * Ends a pool when what it has under way and what waits is done, or after `seconds`. The library's own `end` alone leaves connections open for
 * ever: it ends each one once, and connects again for statements that waited. So connections are ended until none closes any more,
 * and who is about to connect then finds nothing to connect to.
 */
async function end(pool: Pool, seconds: number): Promise<void> {
  // What the library's types do not tell: ends each connection once it has nothing more to do, and not the pool.
  const { close } = pool.sql as AnySql & { close(): Promise<void> };
  const quiet = async () => {
    for (let seen = -1; seen !== pool.closes;) {
      seen = pool.closes;
      // Twice: what the first one ended may not be closed yet.
      await close();
      await close();
    }
  };
  // The library waits for this like for the pool of `listen`, which nobody uses: a pool's `end` destroys at its time whatever that leaves.
  Object.assign(pool.sql.listen, { sql: { end: quiet } });
  await pool.sql.end({ timeout: seconds });
  Object.assign(pool.sql.options, { socket: () => Promise.reject(lostError()) });
}

/** A connection of the library's, as far as it is touched here. */
interface Connection {
  readonly id: number;
  /** Sends a query; whether the connection takes more. Transactions and pools call it as a member. */
  execute(query: Query): unknown;
  /** While a transaction has the connection: executes the next of its statements that wait, or leaves the connection to it. */
  readonly reserved: (() => void) | null;
  queue: Queue;
}

/** Connections in the same state. */
interface Queue {
  push(connection: Connection): unknown;
  remove(connection: Connection): unknown;
}

type Handler = (query: Query) => unknown;

interface Query {
  /** Executes it where it was made: each pool, transaction and savepoint has one of its own. */
  readonly handler: Handler;
  /** `onexecute` of one that begins a transaction: gives it its connection, once. */
  readonly options?: { readonly onexecute?: (connection: Connection) => void };
  reject(error: unknown): void;
}

type Inner = postgres.TransactionSql<{ int8: bigint; json: unknown }>;
type Work = (sql: Inner) => unknown;

/** A transaction and the savepoints in it. */
interface Transaction {
  lost: boolean;
  /** How many statements were refused because it was lost. */
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
 * Makes the transactions of a pool refuse what is asked of them after their connection closed; gives what to call with the number of a connection that
 * did. The library hands a connection to the query that begins a transaction (its option `onexecute`), which `begin` makes
 * with the pool's own `unsafe`, at once: there the two are brought together.
 */
function refusing(pool: AnySql): (id: number) => void {
  const own = handlerOf(pool);
  const owners = new WeakMap<object, Transaction>();
  /** By connection: the transaction that has it or had it last, and what loses it. */
  const met = new Map<number, { readonly transaction: Transaction; lose(): void }>();
  let starting: Transaction | undefined;

  /**
   * What a transaction or a savepoint does, whose statements can then be told from others' and are refused before they wait for a
   * connection that by now does something else.
   */
  const owned = (transaction: Transaction, work: Work): Work => (inner) => {
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
          : Promise.race([savepoint!(...works(transaction, args)), transaction.loss]),
      unsafe: (...args: unknown[]) => guard(unsafe!(...args)),
    });
    return work(
      new Proxy(inner, {
        apply: (target, self, args) =>
          guard(Reflect.apply(target as unknown as (...args: unknown[]) => unknown, self, args)),
      }),
    );
  };

  const works = (transaction: Transaction, args: unknown[]) =>
    args.map((each) => typeof each === "function" ? owned(transaction, each as Work) : each);

  const meet = (transaction: Transaction, connection: Connection) => {
    if (!met.has(connection.id)) {
      const { execute } = connection;
      connection.execute = (query) => {
        // A savepoint's first statement is made before its work, and so has no owner yet.
        const owner = query.handler === own
          ? undefined
          : owners.get(query.handler) ?? met.get(connection.id)?.transaction;
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
      // Statements that waited for their turn, which nobody else would ever answer; the connection stays among the closed ones.
      const { queue } = connection;
      for (let before = -1; before !== transaction.refused;) {
        before = transaction.refused;
        next?.();
      }
      connection.queue.remove(connection);
      queue.push(connection);
      connection.queue = queue;
    };
    met.set(connection.id, { transaction, lose });
  };

  const begin = pool.begin as (...args: unknown[]) => Promise<unknown>;
  const unsafe = pool.unsafe as (...args: unknown[]) => unknown;
  Object.assign(pool, {
    begin: (...args: unknown[]) => {
      const transaction = newTransaction();
      starting = transaction;
      try {
        return begin(...works(transaction, args));
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
        meet(transaction, connection);
      };
      return unsafe(text, values, { ...options, onexecute });
    },
  });
  return (id) => {
    met.get(id)?.lose();
  };
}

/** What executes the queries that a pool, a transaction or a savepoint makes; the one made here is never awaited, and so never executed. */
function handlerOf(sql: AnySql | Inner): Handler {
  return (sql.unsafe("") as unknown as Query).handler;
}

/** What a statement is refused with whose connection is gone: the library's own code for it. */
function lostError(): Error {
  return Object.assign(new Error("the connection to the database was lost"), { code: "CONNECTION_CLOSED" });
}
