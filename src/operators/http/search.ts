/** Search over HTTP: actors by the beginning of their ids, and what the index has of an address, a hash, a name. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import * as api from "#src/operators/api/operator.ts";
import { actorPath } from "#src/operators/http/history.ts";
import type { Found, Lookups } from "#src/operators/http/lookups.ts";
import { refusal } from "#src/operators/http/status.ts";
import { endpoint } from "#src/http/route.ts";
import { listActors, readKnownActors } from "#src/runtime/operations/inspect.ts";
import { entityKey } from "#src/runtime/placement/partitions.ts";
import type { Store } from "#src/store/store.ts";

/** Most results. */
const MOST = 50;
/** Fewest characters that are searched for, of ids and of names. */
const FEWEST = { id: 4, name: 2 };

type Why = "id" | "name" | "owner" | "transaction" | "address";

/** Adds `/search`. */
export function searchEndpoint(app: OpenAPIHono, { store, index }: { store: Store; index: Lookups | undefined }): void {
  endpoint(app, "get", "/search", {
    summary: "Actors by id, address, transaction or wallet name",
    description:
      "The text is the beginning of an id (at least four characters), an address, the hash of a transaction, the id " +
      "of a request, or a part of a wallet's name in any case.",
    query: api.searchQuery,
    answer: api.search,
    refusals: { 400: "`bad_request`" },
  }, async ({ query: { q } }) => {
    const text = q.trim();
    if ([...text].length < FEWEST.name) {
      throw refusal({ code: "bad_request", message: `q has fewer than ${FEWEST.name} characters.` });
    }
    const results = await find(store, index, text);
    const known = await readKnownActors(store, results);
    return {
      results: results.slice(0, MOST).map(({ kind, id, label = id, why }) => ({
        kind,
        id,
        label,
        why,
        href: known.has(entityKey({ kind, id })) ? actorPath({ kind, id }) : null,
      })),
      more: results.length > MOST,
    };
  });
}

async function find(store: Store, index: Lookups | undefined, text: string): Promise<(Found & { why: Why })[]> {
  const most = MOST + 1;
  const of = (why: Why, found: readonly Found[] | undefined) => (found ?? []).map((one) => ({ ...one, why }));
  const byAddress = await index?.ofAddress(text, most);
  if (byAddress !== undefined) {
    return distinct(byAddress.map((one) => ({ ...one, why: /wallet/.test(one.kind) ? "address" : "owner" })));
  }
  const id = /^[0-9a-f]+$/i.test(text) ? text.toLowerCase() : text;
  // of a transaction, or of the one that made a request: `<hash>#<index>`
  const hash = /^([0-9a-f]{64})(#\d+)?$/i.exec(text)?.[1]?.toLowerCase();
  const [actors, touched, named] = await Promise.all([
    text.length < FEWEST.id ? [] : listActors(store, { prefix: id }, undefined, most),
    hash === undefined ? undefined : index?.touchedBy([hash], most),
    index?.named(text, most),
  ]);
  const byId = actors.map(({ kind, id }) => ({ kind, id }));
  return distinct([...of("id", byId), ...of("transaction", touched), ...of("name", named)]);
}

/** The first of each actor. */
function distinct(found: readonly (Found & { why: Why })[]): (Found & { why: Why })[] {
  const first = new Map<string, Found & { why: Why }>();
  for (const one of found) {
    const key = entityKey(one);
    const known = first.get(key);
    first.set(key, known === undefined ? one : { ...one, ...known });
  }
  return [...first.values()];
}
