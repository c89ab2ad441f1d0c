/**
 * Facts of a token as JSON, as they were under one of its states. A large answer is written page by page, so that it
 * blocks neither the event loop nor a connection.
 */
import type { Context } from "hono";
import { utf8 } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import { type FactPage, type FactQuery, type FactRow, readFactPage } from "#src/tokens/index/factPages.ts";
import type { Tip } from "#src/cardano/block.ts";
import { isKeptPoint } from "#src/chain/index/cursor.ts";
import { JSON_TYPE } from "#src/http/json.ts";
import type { WriteBytes } from "#src/tokens/http/view.ts";
import type { Store } from "#src/store/store.ts";

/** Maximum number of facts of a page: about 10 ms of work. */
export const PAGE = 1_000;

/** The form of facts in an answer. */
export interface FactForm {
  /** Each value with the slot of the block that set it. */
  readonly slots: boolean;
  /** Encoding of keys and values. */
  readonly write: WriteBytes;
  /** The queried state as JSON, the member `at` of an answer to a query with `since`; undefined without `since`. */
  readonly changed?: string | undefined;
}

function members(facts: readonly FactRow[], { slots, write }: FactForm): string {
  return facts.map(({ key, value, slot }) =>
    `${toJson(write(key))}:${slots ? toJson({ value: write(value), slot }) : toJson(write(value))}`
  ).join(",");
}

/** One page as a whole answer. */
export function factText(page: FactPage, form: FactForm): string {
  const facts = `{${members(page.facts, form)}}`;
  if (form.changed === undefined) return facts;
  return `{"facts":${facts},"deleted":${toJson(page.deleted.map(form.write))},"at":${form.changed}}`;
}

/**
 * The pieces of an answer: the page `first`, read while the index was at `at`, and all further pages. Throws if that
 * point is rolled back or no longer kept.
 */
export async function* factPieces(
  store: Store,
  query: FactQuery,
  first: FactPage,
  form: FactForm,
  at: Tip,
): AsyncGenerator<string, void> {
  const deleted: Uint8Array[] = [];
  const overtaken = () => new Error("the chain was rolled back below the point of this response");
  yield form.changed === undefined ? "{" : `{"facts":{`;
  let separator = "";
  for (let page = first;;) {
    if (!(await isKeptPoint(store.sql, at))) throw overtaken();
    deleted.push(...page.deleted);
    const text = members(page.facts, form);
    if (text !== "") {
      yield separator + text;
      separator = ",";
    }
    if (page.next === undefined) break;
    const next = await readFactPage(store.sql, query, page.next, PAGE);
    if (!next) throw overtaken();
    page = next;
  }
  yield form.changed === undefined ? "}" : `},"deleted":${toJson(deleted.map(form.write))},"at":${form.changed}}`;
}

/** Streams pieces of text; a failure breaks the answer off and closes the connection. */
export function streamed(c: Context, pieces: AsyncGenerator<string, void>): Response {
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(utf8(value));
    },
    async cancel() {
      await pieces.return();
    },
  });
  return c.body(body, 200, { "content-type": JSON_TYPE });
}
