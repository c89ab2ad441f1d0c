/**
 * A `Store` whose statements run in the model of PostgreSQL. It has what the runtime uses of postgres.js: statements and
 * fragments as templates, `sql.array`, `sql.unsafe` and `sql.begin`.
 */
import type { MemoryDatabase } from "#src/runtime/testing/memory/database.ts";
import { statementOf } from "#src/runtime/testing/memory/statements.ts";
import { TurnExecution } from "#src/runtime/testing/memory/turnStatement.ts";
import { flat } from "#src/runtime/testing/memory/values.ts";
import type { Sql, Store } from "#src/store/store.ts";

/** One run of a statement. */
export interface Execution {
  /** The partitions whose rows a statement of turns has locked, with their epochs. */
  readonly owned?: readonly { readonly id: number; readonly epoch: number }[];
  /**
   * Reads the snapshot and takes the locks; false while another statement has one of the rows: call it again then.
   *
   * @throws {DatabaseError} when a parameter is refused.
   */
  begin(): boolean;
  /** Writes, releases the locks and gives the rows. @throws {DatabaseError} when nothing was written. */
  commit(): readonly object[];
  /** Writes nothing and releases the locks. */
  cancel(): void;
}

/** A statement as the client sends it. */
export interface SentStatement {
  readonly text: string;
  readonly parameters: readonly unknown[];
}

/** A run of a statement. @throws Error when the model does not know the statement. */
export function executionOf(db: MemoryDatabase, { text, parameters }: SentStatement): Execution {
  if (text.startsWith("with e as materialized")) return new TurnExecution(db, text, parameters);
  const statement = statementOf(text);
  let at: number | undefined;
  return {
    begin: () => {
      at ??= db.now();
      return statement.waits?.(db, parameters as never) !== true;
    },
    commit: () => db.atomically(() => statement.run(db, parameters as never, at ?? db.now())),
    cancel: () => {},
  };
}

/** Runs a statement at once. @throws {DatabaseError} */
function runNow(db: MemoryDatabase, statement: SentStatement): readonly object[] {
  const execution = executionOf(db, statement);
  if (!execution.begin()) throw new Error("a row is locked, and nothing runs that could release it");
  return execution.commit();
}

/** Where the statements of a store are run. */
export interface Server {
  run(statement: SentStatement): Promise<readonly object[]>;
  /** Runs a transaction: what `work` runs happens as a whole, and alone. */
  transact<T>(work: (run: Server["run"]) => Promise<T>): Promise<T>;
}

/** Runs statements at once, and transactions one after the other. */
export function serverOf(db: MemoryDatabase): Server {
  let last: Promise<unknown> = Promise.resolve();
  let open = false;
  const run = async (statement: SentStatement) => {
    while (open) await last;
    return runNow(db, statement);
  };
  const transactNow = async <T>(work: (run: Server["run"]) => Promise<T>) => {
    open = true;
    const changes = db.begin();
    try {
      const result = await work(async (statement) => runNow(db, statement));
      changes.keep();
      return result;
    } catch (error) {
      changes.undo();
      throw error;
    } finally {
      open = false;
    }
  };
  return {
    run,
    transact: (work) => {
      const mine = last.then(() => transactNow(work));
      last = mine.catch(() => {});
      return mine;
    },
  };
}

/** An array that stays one parameter. */
class ArrayParameter {
  constructor(readonly values: readonly unknown[]) {}
}

/** A query: a statement when it is awaited, a part of one when it is a value of another. */
class MemoryQuery implements PromiseLike<readonly object[]> {
  #result: Promise<readonly object[]> | undefined;

  constructor(
    private readonly run: Server["run"],
    readonly strings: readonly string[],
    readonly values: readonly unknown[],
  ) {}

  then<A = readonly object[], B = never>(
    onValue?: ((rows: readonly object[]) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#result ??= this.#send();
    return this.#result.then(onValue, onError);
  }

  catch<B>(onError: (reason: unknown) => B | PromiseLike<B>): Promise<readonly object[] | B> {
    return this.then(undefined, onError);
  }

  finally(onEnd: () => void): Promise<readonly object[]> {
    return this.then().finally(onEnd);
  }

  async #send(): Promise<readonly object[]> {
    return await this.run(render(this));
  }
}

/** Texts of queries without fragments, by their template. */
const texts = new WeakMap<readonly string[], string>();

function render(query: MemoryQuery): SentStatement {
  const parameters: unknown[] = [];
  let nested = false;
  const write = ({ strings, values }: MemoryQuery): string => {
    let text = strings[0] ?? "";
    values.forEach((value, i) => {
      if (value instanceof MemoryQuery) {
        nested = true;
        text += write(value);
      } else text += `$${parameters.push(value instanceof ArrayParameter ? value.values : value)}`;
      text += strings[i + 1] ?? "";
    });
    return text;
  };
  const known = texts.get(query.strings);
  if (known !== undefined) {
    return { text: known, parameters: query.values.map((one) => one instanceof ArrayParameter ? one.values : one) };
  }
  const text = flat(write(query));
  if (!nested) texts.set(query.strings, text);
  return { text, parameters };
}

/** Opens a pool on a server. */
export function memoryStore(server: Server): Store {
  const store: Store = {
    sql: queriesOf(server.run, server),
    writes: { failure: undefined },
    beside: () => memoryStore(server),
    close: async () => {},
  };
  return store;
}

function queriesOf(run: Server["run"], server: Server): Sql {
  const sql = (strings: TemplateStringsArray, ...values: unknown[]) => new MemoryQuery(run, strings, values);
  const members = {
    array: (values: readonly unknown[]) => new ArrayParameter(values),
    // Only the statement of turns is sent this way: its text has the clauses on lines of their own.
    unsafe: (text: string, parameters: readonly unknown[] = []) => run({ text, parameters }),
    begin: (work: (sql: Sql) => Promise<unknown>) => server.transact((inside) => work(queriesOf(inside, server))),
  };
  // Of the library's own type it has only what the runtime uses, hence the cast.
  return Object.assign(sql, members) as unknown as Sql;
}
