/**
 * Texts of many megabytes as values of a statement. A parameter is encoded and sent in one go, which holds the event loop
 * for a millisecond or two a megabyte, and longer to make. So a long text is made and sent in pieces, each a statement of
 * its own into a temporary table, and the server joins them.
 */
import type { Fragment, Queries } from "#src/store/store.ts";

/** Characters of a piece, more or less: a few milliseconds of work where they are JSON that is made from objects. */
const PIECE = 200_000;

/** Joins texts into pieces, each of whole texts. A text is taken when its piece is. */
export function* piecesOf(texts: Iterable<string>, separator = ""): Iterable<string> {
  let joined: string[] = [];
  let length = 0;
  for (const text of texts) {
    joined.push(text);
    length += text.length;
    if (length < PIECE) continue;
    yield joined.join(separator);
    joined = [];
    length = 0;
  }
  if (joined.length > 0) yield joined.join(separator);
}

let sent = 0;

/**
 * An expression for the text that some texts make together; to be used in the same transaction. One of a single piece is
 * sent with its statement.
 */
export async function longText(sql: Queries, texts: Iterable<string>): Promise<{ readonly expression: Fragment }> {
  const id = sent++;
  let first: string | undefined;
  let count = 0;
  const send = (piece: string) =>
    sql`insert into long_text_piece (id, place, piece) values (${id}, ${count++}, ${piece})`;
  for (const piece of piecesOf(texts)) {
    if (count === 0 && first === undefined) {
      first = piece;
      continue;
    }
    if (first !== undefined) {
      await sql`create temporary table if not exists long_text_piece (id bigint, place int, piece text) on commit drop`;
      await send(first);
      first = undefined;
    }
    await send(piece);
  }
  if (count === 0) return { expression: sql`${first ?? ""}::text` };
  return { expression: sql`(select string_agg(piece, '' order by place) from long_text_piece where id = ${id})` };
}
