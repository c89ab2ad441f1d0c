/** What stands in a connection's pipeline behind a statement that fails. */
import { expect } from "vitest";
import { isRetryable, type Sql } from "#src/store/store.ts";

/**
 * Sends a statement that fails and others behind it on the same connection, and expects that each of these gets its own
 * rows, or an error that says to try again where the connection is lost. Gives the SQLSTATE of the failure (undefined
 * where nothing failed) and how many of the others were lost.
 */
export async function failBefore(
  sql: Sql,
  fail: (sql: Sql) => Promise<unknown>,
): Promise<{ readonly code: string | undefined; readonly lost: number }> {
  const failed = fail(sql).then(() => undefined, (error: { code: string }) => error.code);
  const five = [1, 2, 3, 4, 5].map((x) => ({ x }));
  // With parameters and without, without rows, with rows as arrays, and of several statements.
  const behind: [PromiseLike<unknown>, unknown][] = [
    [sql`select x from generate_series(1, 5) x`, five],
    [sql`select x from generate_series(1, ${5}::int) x`, five],
    [sql`select 1 as x where false`, []],
    [sql`select x from generate_series(1, 2) x`.values(), [[1], [2]]],
    [sql.unsafe("select 1 as a; select 2 as b"), [[{ a: 1 }], [{ b: 2 }]]],
  ];
  const answers = await Promise.allSettled(behind.map(([query]) => query));
  let lost = 0;
  for (const [i, answer] of answers.entries()) {
    if (answer.status === "fulfilled") {
      expect(structuredClone(answer.value)).toStrictEqual(behind[i]![1]);
    } else {
      expect(answer.reason).toSatisfy(isRetryable);
      lost++;
    }
  }
  const code = await failed;
  const next = () => sql`select x from generate_series(1, 5) x`.execute();
  const rows = await next().catch((error: unknown) => isRetryable(error) ? next() : Promise.reject(error));
  expect([...rows]).toStrictEqual(five);
  return { code, lost };
}
