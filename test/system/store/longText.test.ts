/** Long texts reach the server whole, in pieces, and leave nothing behind. */
import { expect, it } from "vitest";
import { longText, piecesOf } from "#src/store/longText.ts";
import { openStore } from "#src/store/store.ts";
import { sharedInfra } from "../../support/infra/infra.ts";

it("sends texts of every length, several in one transaction", async () => {
  const infra = await sharedInfra();
  const store = openStore(infra.databaseUrl);
  try {
    // quotes and letters of several bytes, in parts that are no round share of a piece
    const texts = [0, 1, 3, 6_000, 50_000].map((count) => Array.from({ length: count }, (_, i) => `"${i}\\ü€",\n`));
    for (let round = 0; round < 2; round++) {
      await store.sql.begin(async (sql) => {
        const long = await Promise.all(texts.map((parts) => longText(sql, parts)));
        for (const [i, { expression }] of long.entries()) {
          const [row] = await sql<{ text: string; length: number }[]>`select ${expression} as text`;
          expect(row?.text === texts[i]?.join("")).toBe(true);
        }
      });
    }
    expect([...piecesOf(texts[4]!)].length).toBeGreaterThan(2);
    expect(await store.sql`select 1 from pg_class where relname = 'long_text_piece'`).toEqual([]);
  } finally {
    await store.close();
    await infra.stop();
  }
});
