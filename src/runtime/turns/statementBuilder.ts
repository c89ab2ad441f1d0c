/** Builds one SQL statement (`with a as (…), b as (…) select …`) and its parameters clause by clause. */
import { writeArray } from "#src/store/arrays.ts";

/** A column that becomes a parameter: its name, its SQL type, and one value for each row. */
export type Column = readonly [name: string, type: "int" | "bigint" | "float8" | "text", values: readonly unknown[]];

export class StatementBuilder {
  readonly parameters: unknown[] = [];
  private readonly clauses: string[] = [];

  /**
   * With `single`, a relation of one row is written without arrays, which makes a small statement a fifth cheaper. For
   * larger statements it would only add variants of the text, and each connection keeps a plan for each text.
   */
  constructor(private readonly single: boolean = false) {}

  /** SQL for rows as the relation `x`, with one parameter for each column (an array, unless there is a single row). */
  rows(...columns: readonly Column[]): string {
    const names = columns.map(([name]) => name).join(", ");
    if (this.single && columns[0]?.[2].length === 1) {
      const values = columns.map(([, type, [value]]) => `$${this.parameters.push(value ?? null)}::${type}`);
      return `(values (${values.join(", ")})) as x(${names})`;
    }
    const arrays = columns.map(([, type, values]) => `$${this.parameters.push(writeArray(values))}::${type}[]`);
    return `unnest(${arrays.join(", ")}) as x(${names})`;
  }

  /** Adds a clause that is computed once. */
  read(name: string, sql: string): void {
    this.clauses.push(`${name} as materialized (${sql})`);
  }

  /** Adds a clause that changes rows, whether or not another clause refers to it. */
  write(name: string, sql: string): void {
    this.clauses.push(`${name} as (${sql})`);
  }

  /** The statement; its only row has these columns. */
  select(columns: readonly string[]): string {
    return `with ${this.clauses.join(",\n")}\nselect ${columns.join(",\n  ")}`;
  }
}
