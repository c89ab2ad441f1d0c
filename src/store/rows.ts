/**
 * The row of a query that always gives exactly one, such as an aggregate.
 *
 * @throws Error when it gave none or several.
 */
export async function onlyRow<Row>(query: PromiseLike<readonly Row[]>): Promise<Row> {
  const rows = await query;
  const [row] = rows;
  if (row === undefined || rows.length > 1) throw new Error(`a query gave ${rows.length} rows instead of one`);
  return row;
}
