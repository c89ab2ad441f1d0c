/** Paginated lists: the pages together are the whole list, also if entries come and go between them. */
import fc from "fast-check";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { HttpFailure } from "#src/http/failure.ts";
import { pageOf } from "#src/http/paging.ts";
import { edgeAlone } from "../../../support/service/walletEdge.ts";

type Order = Parameters<typeof pageOf>[4];

/** Requests a page of a list like a client; returns its entries, and the path of the next page. */
async function requestPage(list: readonly string[], path: string, order?: Order) {
  const app = new Hono();
  app.get("/list", (c) => {
    const { limit, after } = c.req.query();
    return c.json(
      pageOf(c, { limit: limit === undefined ? undefined : Number(limit), after }, list, (one) => one, order),
    );
  });
  app.onError((error, c) => c.json(null, error instanceof HttpFailure ? 400 : 500));
  const response = await app.request(path);
  const next = /^<([^>]*)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
  return { status: response.status, entries: await response.json() as string[], next };
}

/** All pages of a list; `change` returns the list after each page. */
async function walked(list: readonly string[], limit: number, order: Order, change = (now: readonly string[]) => now) {
  const seen: string[] = [];
  let now = list;
  for (let path: string | undefined = `/list?limit=${limit}`; path !== undefined; now = change(now)) {
    const page = await requestPage(now, path, order);
    expect(page.status).toBe(200);
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    seen.push(...page.entries);
    path = page.next;
  }
  return seen;
}

const lists = fc.uniqueArray(fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }), { maxLength: 30 });

test("pages together are the list, in any order; without a limit it is complete and has no next page", async () => {
  await fc.assert(
    fc.asyncProperty(lists, fc.integer({ min: 1, max: 12 }), async (list, limit) => {
      const ascending = [...list].sort((a, b) => a < b ? -1 : 1);
      expect(await walked(ascending, limit, "ascending")).toEqual(ascending);
      expect(await walked(list, limit, "other")).toEqual(list);
      expect(await requestPage(list, "/list")).toEqual({ status: 200, entries: list, next: undefined });
    }),
    { numRuns: 60 },
  );
});

test("a list with ascending keys continues although entries are removed; no remaining entry is repeated or missed", async () => {
  await fc.assert(
    fc.asyncProperty(lists, fc.integer({ min: 1, max: 5 }), fc.nat(), async (list, limit, seed) => {
      const ascending = [...list].sort((a, b) => a < b ? -1 : 1);
      const gone = new Set<string>();
      const seen = await walked(ascending, limit, "ascending", (now) => {
        const one = now[seed % Math.max(1, now.length)];
        if (one !== undefined) gone.add(one);
        return now.filter((other) => other !== one);
      });
      expect(new Set(seen).size).toBe(seen.length);
      expect(ascending.filter((one) => !gone.has(one)).every((one) => seen.includes(one))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test("a cursor that no page gave is refused, and one whose entry is gone if the order is another", async () => {
  const { next } = await requestPage(["b", "a", "c"], "/list?limit=2", "other");
  expect(await requestPage(["b", "c"], next!, "other")).toMatchObject({ status: 400 });
  for (const after of ["nonsense", "e30", ""]) {
    expect(await requestPage(["a"], `/list?after=${after}`), after).toMatchObject({ status: 400 });
  }
});

test("every list of the service has pages, except those of a few entries", async () => {
  const { paths } = await (await edgeAlone().request("/v2/openapi.json")).json() as {
    paths: Record<string, Record<string, Operation>>;
  };
  const without = Object.values(paths).flatMap(({ get }) => {
    if (get === undefined) return [];
    const { schema } = get.responses["200"]?.content?.["application/json"] ?? {};
    const names = (get.parameters ?? []).map(({ name }) => name);
    if (schema?.type !== "array" || (names.includes("limit") && names.includes("after"))) return [];
    return [get.operationId];
  });
  expect(without).toEqual(["suggestedDReps"]);
});

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses: Record<string, {
    readonly content?: Record<string, { readonly schema?: { readonly type?: string } }>;
  }>;
}

test("other query parameters stay unchanged, byte by byte, in any position", async () => {
  const { next } = await requestPage(["a", "b", "c"], "/list?prefix=%ff%2B+x&limit=1&after=ImEi&x=1");
  expect(next).toBe("/list?prefix=%ff%2B+x&limit=1&x=1&after=ImIi");
});
