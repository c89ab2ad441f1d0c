/** All facts of a token as one JSON object, written page by page: a large answer holds neither the loop nor a connection. */
import type { Context } from "hono";
import { utf8 } from "#src/base/bytes.ts";
import { readFacts } from "#src/cage/index/read.ts";
import type { Tip } from "#src/cardano/block.ts";
import { stands } from "#src/chain/cursor.ts";
import { respond } from "#src/edge/json.ts";
import type { Store } from "#src/store/store.ts";

/** The facts as they stood at a point. An answer that a rollback overtakes ends in the middle, with the connection closed. */
export async function answerFacts(c: Context, store: Store, token: string, at: Tip): Promise<Response> {
  const pages = readFacts(store.sql, token, at.slot);
  const first = (await pages.next()).value!;
  if (first.last) return respond(c, 200, Object.fromEntries(first.facts));
  const members = (facts: readonly [string, string][]) =>
    facts.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",");
  let written = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const page = written ? (await pages.next()).value! : first;
      if (!(await stands(store.sql, at))) throw new Error("the chain was rolled back below the point of this answer");
      const text = (written ? page.facts.length > 0 ? "," : "" : "{") + members(page.facts) + (page.last ? "}" : "");
      written = true;
      controller.enqueue(utf8(text));
      if (page.last) controller.close();
    },
    async cancel() {
      await pages.return();
    },
  });
  return c.body(body, 200, { "content-type": "application/json; charset=utf-8" });
}
