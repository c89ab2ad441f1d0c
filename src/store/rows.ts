/**
 * The row of a query that always gives exactly one, such as an aggregate.
 *
 * @throws Error when it gave none or several.
 */
export function onlyRow<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined || rows.length > 1) throw new Error(`a query gave ${rows.length} rows instead of one`);
  return row;
}
