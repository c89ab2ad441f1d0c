/** The clauses of one SQL statement (`with a as (…), b as (…) select …`) and its parameters, put together piece by piece. */
import { writeArray } from "#src/store/arrays.ts";

/** A column of values that becomes a parameter: its name, its SQL type, one value a row. */
export type Column = readonly [name: string, type: "int" | "bigint" | "float8" | "text", values: readonly unknown[]];

export class StatementBuilder {
  readonly parameters: unknown[] = [];
  private readonly clauses: string[] = [];

  /**
   * With `single`, a relation of one row is written without arrays: a statement that is small costs a fifth less. For others
   * it would only make more texts, of which a connection keeps each one's plan.
   */
  constructor(private readonly single: boolean = false) {}

  /** Rows out of one parameter a column (an array unless there is a single row), as the relation `x`. */
  rows(...columns: readonly Column[]): string {
    const names = columns.map(([name]) => name).join(", ");
    if (this.single && columns[0]?.[2].length === 1) {
      const values = columns.map(([, type, [value]]) => `$${this.parameters.push(value ?? null)}::${type}`);
      return `(values (${values.join(", ")})) as x(${names})`;
    }
    const arrays = columns.map(([, type, values]) => `$${this.parameters.push(writeArray(values))}::${type}[]`);
    return `unnest(${arrays.join(", ")}) as x(${names})`;
  }

  /** A clause that is computed once. */
  read(name: string, sql: string): void {
    this.clauses.push(`${name} as materialized (${sql})`);
  }

  /** A clause that changes rows, whether or not another refers to it. */
  write(name: string, sql: string): void {
    this.clauses.push(`${name} as (${sql})`);
  }

  /** The statement, whose only row has these columns. */
  select(columns: readonly string[]): string {
    return `with ${this.clauses.join(",\n")}\nselect ${columns.join(",\n  ")}`;
  }
}
