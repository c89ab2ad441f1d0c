/**
 * What postgres.js 3.4.9 does not survive by itself: a connection that is lost in the middle of something.
 *
 * Hypotheses, seen by cutting connections at random moments: a statement that was handed over but not yet sent when its connection closed stays in
 * that connection's buffer for ever, so that the connection, once used again, hangs until the connect timeout; and a transaction
 * whose connection closed is rolled back on a socket that is no more, which throws where nobody can catch it (porsager/postgres
 * issues 1066, 1154, 1208); and a connection that closes while it asks for the types of arrays, as each one does first, rejects
 * a promise that nobody has. So a pool that lost a connection is left to end what it has under way, and a new one takes its
 * place; and a transaction that lost its connection says nothing more to the library.
 */
import type postgres from "postgres";

type AnySql = postgres.Sql<{ int8: bigint; json: unknown }>;
type Inner = postgres.TransactionSql<{ int8: bigint; json: unknown }>;
type Work = (sql: Inner) => unknown;

/** Seconds that a pool which lost a connection has to end what its other connections do. */
const GRACE_S = 1;
/** Milliseconds after which a transaction is given up whose connection was said to be lost but did not close. */
const CLOSE_MS = 1_000;

/**
 * Makes a pool; `onClose` is called whenever one of its connections closes, for whatever reason. `before` are the options of the
 * pool that it replaces, as the library has parsed and completed them.
 */
export type MakePool = (onClose: () => void, before: AnySql["options"] | undefined) => AnySql;

/** A pool that is replaced whenever it lost a connection, behind one handle that stays. Its connections must not close by themselves. */
export function replaceable(make: MakePool): { readonly sql: AnySql; end(seconds: number): Promise<void> } {
  const leaving = new Set<Promise<void>>();
  let ended = false;
  let current = open(undefined);

  function open(before: AnySql["options"] | undefined): AnySql {
    const pool = make(() => {
      if (pool !== current || ended) return;
      current = open(pool.options);
      const left = pool.end({ timeout: GRACE_S }).catch(() => {}).then(() => void leaving.delete(left));
      leaving.add(left);
    }, before);
    return pool;
  }

  const begin = (...args: [Work] | [string, Work]) => {
    const work = args[args.length - 1] as Work;
    return args.length === 1 ? transaction(current, undefined, work) : transaction(current, args[0] as string, work);
  };
  const sql = new Proxy(current, {
    apply: (_, self, args) => Reflect.apply(current as unknown as (...args: unknown[]) => unknown, self, args),
    get: (_, name) => name === "begin" ? begin : Reflect.get(current, name),
  });
  return {
    sql,
    end: async (seconds) => {
      ended = true;
      await Promise.all([current.end({ timeout: seconds }), ...leaving]);
    },
  };
}

/** A transaction that, once its connection is lost, is refused and never touches that connection again. */
function transaction(pool: AnySql, options: string | undefined, work: Work): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let lost: { readonly error: unknown } | undefined;
    const lose = (error: unknown) => {
      lost ??= { error };
      setTimeout(() => reject(error), CLOSE_MS);
    };
    const guarded = async (inner: Inner) => {
      try {
        return await work(
          new Proxy(inner, {
            apply: (target, self, args) =>
              lost
                ? refused(lost.error)
                : Reflect.apply(target as unknown as (...args: unknown[]) => unknown, self, args),
          }),
        );
      } catch (error) {
        if (!lost && !isLoss(error)) throw error;
        lose(error);
        // Settling would make the library write to a socket that is gone.
        return await new Promise<never>(() => {});
      }
    };
    const done = options === undefined ? pool.begin(guarded) : pool.begin(options, guarded);
    done.then(resolve, (error) => {
      lost ??= { error };
      reject(error);
    });
  });
}

/** Something to await that is refused, and is no unhandled rejection when nobody does. */
function refused(error: unknown): PromiseLike<never> {
  return { then: (_, onRefused) => Promise.reject(error).then(undefined, onRefused) as Promise<never> };
}

/** Whether an error says that its connection is gone or about to go. */
function isLoss(error: unknown): boolean {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  if (severity !== undefined) return severity === "FATAL" || severity === "PANIC";
  return typeof code === "string" && /^(CONNECTION_|E[A-Z]+$)/.test(code);
}
