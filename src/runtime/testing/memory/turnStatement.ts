/** Runs the statement of turns clause by clause, as it was sent: its text says which clauses it has. */
import type { MemoryDatabase } from "#src/runtime/testing/memory/database.ts";
import { rowKey } from "#src/runtime/testing/memory/locks.ts";
import {
  type Clause,
  CLAUSES,
  ownClause,
  type TurnRow,
  type TurnStatement,
} from "#src/runtime/testing/memory/turnClauses.ts";
import { arrayOf, flat, scalarOf } from "#src/runtime/testing/memory/values.ts";

/** The parameters that make the rows of a clause. */
interface Relation {
  readonly columns: readonly { readonly name: string; readonly type: string; readonly parameter: number }[];
  readonly single: boolean;
}

interface PlannedClause {
  readonly name: string;
  readonly clause: Clause;
  readonly relation: Relation | undefined;
}

const plans = new Map<string, readonly PlannedClause[]>();
const RELATION = /(?:unnest\((?<arrays>[^)]*)\)|\(values \((?<values>[^)]*)\)\)) as x\((?<names>[^)]*)\)/;

/** The clauses of a statement. @throws Error when one is not known. */
function planOf(text: string): readonly PlannedClause[] {
  const known = plans.get(text);
  if (known !== undefined) return known;
  const clauses = text.slice("with ".length).split(/,\n(?=\w+ as (?:materialized )?\()/);
  const last = clauses.length - 1;
  clauses[last] = clauses[last]?.replace(/\nselect [^]*$/, "") ?? "";
  const plan = clauses.map((one): PlannedClause => {
    const [, name = "", sql = ""] = /^(\w+) as (?:materialized )?\(([^]*)\)$/.exec(one) ?? [];
    const groups = RELATION.exec(sql)?.groups;
    const shape = flat(sql.replace(RELATION, "{rows}"));
    const clause = name.startsWith("own_")
      ? ownClause(shape)
      : [CLAUSES[name] ?? []].flat().find((candidate) => flat(candidate.sql) === shape);
    if (clause === undefined) throw new Error(`the model of the database does not know the clause ${name}: ${shape}`);
    return { name, clause, relation: groups === undefined ? undefined : relationOf(groups) };
  });
  plans.set(text, plan);
  return plan;
}

function relationOf({ arrays, values, names = "" }: { readonly [name: string]: string | undefined }): Relation {
  const parameters = (arrays ?? values ?? "").split(", ");
  const columns = names.split(", ").map((name, i) => {
    const [, number, type = ""] = /^\$(\d+)::(\w+)/.exec(parameters[i] ?? "") ?? [];
    return { name, type, parameter: Number(number) - 1 };
  });
  return { columns, single: values !== undefined };
}

function rowsOf(relation: Relation | undefined, parameters: readonly unknown[]): TurnRow[] {
  if (relation === undefined) return [];
  const { columns, single } = relation;
  const values = columns.map(({ type, parameter }) =>
    single ? [scalarOf(type, parameters[parameter])] : arrayOf(type, parameters[parameter])
  );
  // Each clause reads the columns that its own text names, hence the cast.
  return (values[0] ?? []).map((_, i) =>
    Object.fromEntries(columns.map(({ name }, c) => [name, values[c]?.[i]])) as unknown as TurnRow
  );
}

/** One run of the statement, as `Execution`. */
export class TurnExecution {
  #statement: TurnStatement | undefined;
  #locked: string[] = [];

  constructor(
    private readonly db: MemoryDatabase,
    private readonly text: string,
    private readonly parameters: readonly unknown[],
  ) {}

  /** The partitions whose rows it has locked, with their epochs. */
  get owned(): TurnStatement["own"] {
    return this.#statement?.own ?? [];
  }

  begin(): boolean {
    if (this.#statement !== undefined) return this.db.locks.take(this.#locked, this);
    this.#statement = this.#read();
    const { ended, c } = this.#statement;
    const written = this.#statement.good.filter((turn) => this.#isWritten(turn));
    const places = new Set(written.map(({ place }) => place));
    const inputs = planOf(this.text).filter(({ name }) => name.startsWith("inputs"))
      .flatMap(({ relation }) => rowsOf(relation, this.parameters));
    this.#locked = [
      ...inputs.filter(({ place }) => places.has(place)).map(({ seq }) => rowKey("input_log", seq)),
      ...written.filter(({ light }) => light === 0).map(({ kind, id }) => rowKey("actor", kind, id)),
      ...ended.filter(({ place }) => places.has(place)).map(({ kind, id, n }) => rowKey("effect", kind, id, n)),
      ...c.filter(({ place }) => places.has(place))
        .map(({ kind, id, command }) => rowKey("command_result", kind, id, command)),
    ];
    return this.db.locks.take(this.#locked, this);
  }

  commit(): readonly object[] {
    try {
      const statement = this.#statement ?? this.#read();
      this.db.atomically(() => {
        for (const { clause, relation } of planOf(this.text)) {
          if (clause.write !== undefined) clause.write(statement, rowsOf(relation, this.parameters));
        }
      });
      const { w, own, known, gone } = statement;
      const list = (rows: readonly object[]) => rows.length === 0 ? null : rows;
      return [{ written: [...w.keys()], owned: own.map(({ id }) => id), known: list(known), gone: list(gone) }];
    } finally {
      this.cancel();
    }
  }

  cancel(): void {
    const { locks } = this.db;
    locks.release(this.#locked, this);
    locks.unshare((this.#statement?.own ?? []).map(({ id }) => id));
    this.#statement = undefined;
  }

  /** Whether a turn is written as far as the snapshot says: the rows of others are not locked. */
  #isWritten({ place, kind, id, was, seen, version, light }: TurnRow): boolean {
    if (light === 1 || version === 0) return this.#statement?.refused.has(place) === true;
    const actor = this.db.tables.actor.get(kind, id);
    // An insertion waits for the change of a row of its key, also where it then does nothing.
    if (was === 0) return actor === undefined || this.db.locks.isLocked(rowKey("actor", kind, id));
    return actor !== undefined && actor.version === was && actor.input_seq === seen && !actor.paused;
  }

  /** Reads the snapshot, and locks the rows of the partitions. */
  #read(): TurnStatement {
    const { db } = this;
    const relations = { own: [], c: [], ended: [], fired: [], known: [], gone: [], good: [], cancelled: [], log: [] };
    const statement = {
      db,
      at: db.now(),
      e: new Map(),
      stored: new Set<number>(),
      refused: new Set<number>(),
      w: new Map(),
      ...relations,
    };
    this.#statement = statement;
    try {
      for (const { clause, relation } of planOf(this.text)) {
        if (clause.read !== undefined) clause.read(statement, rowsOf(relation, this.parameters));
      }
    } catch (error) {
      this.cancel();
      throw error;
    }
    return statement;
  }
}
