/** Answers with a token's facts, for any number of facts and any keys, also if the chain changes during an answer. */
import { OpenAPIHono } from "@hono/zod-openapi";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { concat, fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { bytesText } from "#src/contract/text.ts";
import { blake2b256 } from "#src/cardano/hash.ts";
import { handleErrors } from "#src/http/errors.ts";
import type { TokenService } from "#src/tokens/http/service.ts";
import { factRoutes } from "#src/tokens/http/factRoutes.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";

const TOKEN = "ab".repeat(32);
const ROOT = "cd".repeat(32);
let infra: Infra;
let store: Store;

function serving(factSlots: boolean): OpenAPIHono {
  const app = new OpenAPIHono();
  handleErrors(app, silentLog);
  factRoutes(app, { store, factSlots } as unknown as TokenService);
  return app;
}

beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  await migrate(store, migrationsOf("chain/index", "tokens/index"));
});
afterAll(async () => {
  await store?.close();
  await infra?.stop();
});
beforeEach(async () => {
  await store.sql`truncate fact, chain_block, token_state, token_request, token_request_end, token_quarantine`;
  await block(5);
  await state(5);
});

const ref = (slot: number, index = 0) => `${slot.toString(16).padStart(64, "0")}#${index}`;
const said = (slot: number) => ref(slot).replace("#", "-");

/** The chain's next block. */
async function block(slot: number, hash = `block ${slot}`) {
  await store.sql`insert into chain_block values (${slot}, ${hash}, ${slot}, null)`;
  await store.sql`update chain_cursor set slot = ${slot}, hash = ${hash}, height = ${slot}`;
}

/** The token's next state, in the block at a slot; without a position as of before positions were kept. */
async function state(slot: number, index = 0) {
  await store.sql`update token_state set to_slot = ${slot} where to_slot is null`;
  await store.sql`insert into token_state (ref, token, owner, root, output, facts, cut, from_slot)
    values (${ref(slot, index)}, ${TOKEN}, 'owner', ${ROOT}, '\\x00', 0, false, ${slot})`;
}

type Bytes = readonly [Uint8Array, Uint8Array];

async function insert(token: string, slot: number, facts: readonly Bytes[]) {
  const rows = facts.map(([key, value]) => {
    const path = toHex(blake2b256(key));
    const [entry, bucket] = [`${token}:${path}`, `${token}:${path.slice(0, 3)}`];
    return { entry, token, bucket, path, key, value, digest: blake2b256(value), from_slot: slot };
  });
  for (let i = 0; i < rows.length; i += 1_000) {
    await store.sql`insert into fact ${store.sql(rows.slice(i, i + 1_000) as never)}`;
  }
}

let changes = 0;
/** The change of a fact in a block by a request that it applies. */
async function change(slot: number, key: string, value: string | undefined) {
  changes += 1;
  const entry = await apply(slot, key, value, 65_536 * changes);
  await store.sql`update fact set to_slot = ${slot} where entry = ${entry} and to_slot is null`;
  if (value !== undefined) await insert(TOKEN, slot, [[utf8(key), utf8(value)]]);
}

/** A request that a block applies at a position; gives the entry of its fact, whose rows stay as they are. */
async function apply(slot: number, key: string, value: string | undefined, position: number): Promise<string> {
  const path = toHex(blake2b256(utf8(key)));
  const [entry, ref] = [`${TOKEN}:${path}`, `change ${changes}`];
  const [before] = await store.sql<{ value: Uint8Array }[]>`
    select value from fact where entry = ${entry} and to_slot is null`;
  await store
    .sql`insert into token_request (ref, token, owner, refund_address, fee, type, path, key, old_value, new_value, lovelace, output,
      from_slot, to_slot, position)
    values (${ref}, ${TOKEN}, 'owner', '00', 1, ${
    value === undefined ? "delete" : before ? "update" : "insert"
  }, ${path}, ${utf8(key)},
      ${before?.value ?? null}, ${
    value === undefined ? null : utf8(value)
  }, 1, '\\x00', ${slot}, ${slot}, ${position})`;
  await store.sql`insert into token_request_end (ref, token, entry, status, position, from_slot)
    values (${ref}, ${TOKEN}, ${entry}, 'applied', ${position}, ${slot})`;
  return entry;
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => [`key ${i}`, `"value" ${i}`] as const);
const asBytes = (facts: readonly (readonly [string, string])[]) =>
  facts.map(([key, value]) => [utf8(key), utf8(value)] as const);

const get = async (query = "", headers: Record<string, string> = {}, factSlots = false) =>
  await serving(factSlots).request(`/token/${TOKEN}/facts${query}`, { headers });
const json = async (query = "") => {
  const answer = await get(query);
  expect([query, answer.status]).toEqual([query, 200]);
  return await answer.json() as Record<string, string>;
};
/** Entries of all pages from a query on, and their number. */
async function walk(query: string) {
  const entries: [string, string][] = [];
  let pages = 0;
  for (let next: string | undefined = query; next !== undefined; pages++) {
    const answer = await get(next);
    expect([next, answer.status]).toEqual([next, 200]);
    // a JSON parser puts keys that look like numbers first; the text is in order
    const text: string = await answer.text();
    entries.push(
      ...[...text.matchAll(/("(?:[^"\\]|\\.)*"):("(?:[^"\\]|\\.)*")/g)].map(([, key, value]) =>
        [JSON.parse(key!), JSON.parse(value!)] as [string, string]
      ),
    );
    next = /<[^>]*(\?[^>]*)>; rel="next"/.exec(answer.headers.get("link") ?? "")?.[1];
  }
  return { entries, pages };
}

describe("all facts", () => {
  test.each([0, 1, 999, 1_000, 1_001, 3_500])("%i are returned exactly, and none of another token", async (count) => {
    const facts = numbered(count);
    await insert(TOKEN, 5, asBytes(facts));
    await insert("aa".repeat(32), 5, asBytes(facts.slice(0, 3)));
    await insert("ac".repeat(32), 5, asBytes(facts.slice(0, 3)));
    const answer = await get();
    expect(answer.headers.get("content-type")).toContain("application/json");
    expect(await answer.json()).toEqual(Object.fromEntries(facts));
    const slotted = await get("?slots=true");
    expect(await slotted.json()).toEqual(
      Object.fromEntries(facts.map(([key, value]) => [key, { value, slot: 5 }])),
    );
  });

  test("have slots by default if the service was started so", async () => {
    await insert(TOKEN, 5, asBytes([["a", "1"]]));
    expect(await (await get("", {}, true)).json()).toEqual({ a: { value: "1", slot: 5 } });
    expect(await (await get("?slots=false", {}, true)).json()).toEqual({ a: "1" });
  });

  test("with unusual keys and bytes that are no text survive an answer of many pages", async () => {
    const odd = [["__proto__", "p"], ["", "empty"], ["constructor", '\\"\n\u2028'], [
      "a\u0000b",
      "\u{10ffff}",
    ]] as const;
    await insert(TOKEN, 5, [...asBytes([...odd, ...numbered(1_200)]), [
      concat(utf8("x"), Uint8Array.of(0xff)),
      utf8("y"),
    ]]);
    for (const query of ["", "?prefix=", "?limit=1000"]) {
      const read = new Map(query === "?limit=1000" ? (await walk(query)).entries : Object.entries(await json(query)));
      expect(read.size).toBe(1_205);
      for (const [key, value] of odd) expect(read.get(key)).toBe(value);
      expect(read.get("x\udcff")).toBe("y");
    }
  });

  test("exclude changes after the answer began", async () => {
    await insert(TOKEN, 5, asBytes(numbered(2_500)));
    const answer = await get();
    await block(11);
    await state(11);
    await store.sql`update fact set to_slot = 11 where key < ${utf8("key 2")}`;
    await insert(TOKEN, 11, asBytes([["new", "1"], ...numbered(500).map(([key]) => [`${key} more`, "2"] as const)]));
    expect(await answer.json()).toEqual(Object.fromEntries(numbered(2_500)));
  });

  test("are cut off if their point is rolled back", async () => {
    await insert(TOKEN, 5, asBytes(numbered(3_500)));
    const answer = await get();
    await store.sql`update chain_block set hash = 'another' where slot = 5`;
    await expect(answer.text()).rejects.toThrow("rolled back");
  });
});

describe("facts by key prefix", () => {
  /** Keys of every kind of byte, some longer than the index's prefix. */
  const long = "l".repeat(600);
  const keys = [
    ...["", "a", "ab", "a/b", "a%2Fb", "a+b", "a b", "a\u0000", "42", "2024", "deadbeef", "ключ", "b", long, `${long}x`]
      .map(utf8),
    ...["ff", "ffff", "ff00", "fe", "00", "0000", "61ff", "6180", "f09f97", "d0"].map(fromHex),
  ];
  const begins = (key: Uint8Array, prefix: Uint8Array) => toHex(key).startsWith(toHex(prefix));

  test("are those and no others, in the order of their bytes", async () => {
    await insert(TOKEN, 5, keys.map((key) => [key, utf8("v")] as const));
    for (const prefix of keys) {
      const wanted = keys.filter((key) => begins(key, prefix)).map(toHex).sort();
      const percent = [...prefix].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
      const asText = (await walk(`?prefix=${percent}`)).entries.map(([key]) => key);
      // keys that share the whole indexed prefix have their own order
      const short = (key: string) => key.length < 600;
      expect(asText.filter(short)).toEqual(wanted.map((key) => bytesText(fromHex(key))).filter(short));
      const asHex = await walk(`?encoding=hex&limit=2&prefix=${toHex(prefix)}`);
      expect(asHex.entries.map(([key]) => key).sort()).toEqual(wanted);
      expect(asText.sort()).toEqual(wanted.map((key) => bytesText(fromHex(key))).sort());
      expect(asHex.pages).toBe(Math.max(1, Math.ceil(wanted.length / 2)));
    }
  });

  test("are queried in a form's encoding", async () => {
    await insert(TOKEN, 5, asBytes([["a b", "1"], ["a+b", "2"], ["a%2", "3"]]));
    expect(await json("?prefix=a+b")).toEqual({ "a b": "1" });
    expect(await json("?prefix=a%2Bb")).toEqual({ "a+b": "2" });
    expect(await json("?prefix=a%252")).toEqual({ "a%2": "3" });
    expect(await json("?prefix=nothing")).toEqual({});
    expect((await get("?encoding=hex&prefix=a")).status).toBe(400);
  });

  test("are one state's on all pages, whatever changes between them", async () => {
    await insert(TOKEN, 5, asBytes(numbered(50)));
    const first = await get("?limit=20");
    const next = /<[^>]*(\?[^>]*)>/.exec(first.headers.get("link")!)![1]!;
    await block(9);
    await state(9);
    for (const [key] of numbered(50).slice(0, 40)) await change(9, key, undefined);
    await change(9, "key 7777", "new");
    const rest = await walk(next);
    const all = [...Object.keys(await first.json() as object), ...rest.entries.map(([key]) => key)];
    expect(all.sort()).toEqual(numbered(50).map(([key]) => key).sort());
    await store.sql`delete from token_state where from_slot = 5`;
    const gone = await get(next);
    expect([gone.status, (await gone.json() as { code: string }).code]).toEqual([409, "rolled_back"]);
  });

  test("refuse an invalid page", async () => {
    for (const query of ["?limit=0", "?limit=1001", "?limit=x", "?after=x", "?after=", "?slots=1", "?since=x"]) {
      const answer = await get(query);
      expect([query, answer.status]).toEqual([query, 400]);
    }
  });
});

describe("facts that changed", () => {
  test("since a state or a slot come with their values, and removed keys by name", async () => {
    for (const [key, value] of [["stays", "1"], ["changes", "1"], ["goes", "1"]] as const) await change(5, key, value);
    await block(8);
    await state(8);
    await change(8, "changes", "2");
    await change(8, "goes", undefined);
    await change(8, "new", "1");
    await change(8, "brief", "1");
    await block(9);
    await state(9);
    await change(9, "brief", undefined);
    await change(9, "changes", "3");
    const at = { slot: 9, outputRefId: said(9), root: ROOT };
    const since5 = { facts: { new: "1", changes: "3" }, deleted: ["goes"], at };
    expect(await json("?since=5")).toEqual(since5);
    expect(await json(`?since=${said(5)}`)).toEqual(since5);
    expect(await json(`?since=${said(5).replace("-", "%23")}`)).toEqual(since5);
    expect(await json(`?since=${said(8)}`)).toEqual({ facts: { changes: "3" }, deleted: ["brief"], at });
    expect(await json(`?since=${said(9)}`)).toEqual({ facts: {}, deleted: [], at });
    expect(await json("?since=-1")).toEqual({ facts: { stays: "1", new: "1", changes: "3" }, deleted: [], at });
    expect(await json("?since=5&slots=true&prefix=ch")).toEqual({
      facts: { changes: { value: "3", slot: 9 } },
      deleted: [],
      at,
    });
    expect(await json("?since=5&encoding=hex&prefix=67")).toEqual({ facts: {}, deleted: [toHex(utf8("goes"))], at });
    expect((await get(`?since=${said(7)}`)).status).toBe(409);
    // a reader that has a state newer than the token's has read one that was rolled back
    const above = await get("?since=10");
    expect([above.status, await above.json()]).toMatchObject([409, { code: "rolled_back" }]);
  });

  test("come in pages that are complete together, and pinned to one state", async () => {
    for (let i = 0; i < 30; i++) await change(5, `key ${i}`, "1");
    await block(8);
    await state(8);
    for (let i = 0; i < 30; i++) await change(8, `key ${i}`, i % 3 === 0 ? undefined : "2");
    const facts: Record<string, string> = {};
    const deleted: string[] = [];
    let next: string | undefined = "?since=5&limit=7";
    for (let page = 0; next !== undefined; page++) {
      const answer = await get(next);
      const body = await answer.json() as { facts: Record<string, string>; deleted: string[]; at: { slot: number } };
      expect(body.at.slot).toBe(8);
      Object.assign(facts, body.facts);
      deleted.push(...body.deleted);
      if (page === 1) {
        await block(9);
        await state(9);
        for (let i = 0; i < 30; i++) await change(9, `key ${i}`, i % 3 === 0 ? "3" : undefined);
      }
      next = /<[^>]*(\?[^>]*)>/.exec(answer.headers.get("link") ?? "")?.[1];
    }
    const of = (rest: (i: number) => boolean) => Array.from({ length: 30 }, (_, i) => i).filter(rest);
    expect(facts).toEqual(Object.fromEntries(of((i) => i % 3 !== 0).map((i) => [`key ${i}`, "2"])));
    expect(deleted.sort()).toEqual(of((i) => i % 3 === 0).map((i) => `key ${i}`).sort());
  });

  test("stream past a thousand, including deletions", async () => {
    await insert(TOKEN, 5, asBytes(numbered(2_400)));
    await block(8);
    await state(8);
    await store
      .sql`insert into token_request (ref, token, owner, refund_address, fee, type, path, key, old_value, lovelace, output, from_slot,
        to_slot, position)
      select 'end ' || path, token, 'owner', '00', 1, 'delete', path, key, value, 1, '\\x00', 8, 8, 0 from fact`;
    await store.sql`insert into token_request_end (ref, token, entry, status, position, from_slot)
      select 'end ' || path, token, entry, 'applied', row_number() over (order by path), 8 from fact`;
    await store.sql`update fact set to_slot = 8`;
    await store.sql`insert into fact (entry, token, bucket, path, key, value, digest, from_slot)
      select entry, token, bucket, path, key, '\\x32', digest, 8 from fact where path >= '8'`;
    const { facts, deleted } = await json("?since=5") as unknown as {
      facts: Record<string, string>;
      deleted: string[];
    };
    const [gone, set] = [[] as string[], [] as string[]];
    for (const [key] of numbered(2_400)) (toHex(blake2b256(utf8(key))) < "8" ? gone : set).push(key);
    expect(deleted.sort()).toEqual(gone.sort());
    expect(facts).toEqual(Object.fromEntries(set.map((key) => [key, "2"])));
  });

  test("since a state within a block are refused where its rows tell no order", async () => {
    await change(5, "a", "1");
    await state(5, 1);
    await change(5, "b", "1");
    const refused = await get(`?since=${said(5)}`);
    expect([refused.status, await refused.json()]).toMatchObject([409, { code: "rolled_back" }]);
    await store.sql`update token_state set position = ${65_536 * (changes - 1)} where ref = ${ref(5)}`;
    expect(await json(`?since=${said(5)}`)).toMatchObject({ facts: { b: "1" }, deleted: [] });
  });

  test("of pages are refused once a rollback has put a later state into the block of theirs", async () => {
    await insert(TOKEN, 5, asBytes(numbered(30)));
    const next = /<[^>]*(\?[^>]*)>/.exec((await get("?limit=10")).headers.get("link")!)![1]!;
    expect((await get(next)).status).toBe(200);
    await state(5, 1);
    const refused = await get(next);
    expect([refused.status, await refused.json()]).toMatchObject([409, { code: "rolled_back" }]);
  });
});

describe("the tag of an answer", () => {
  const tagOf = async (query = "") => (await get(query)).headers.get("etag")!;

  test("differs for every form, and is the same until the state changes: then a client that has it gets 304", async () => {
    await insert(TOKEN, 5, asBytes(numbered(30)));
    const forms = [
      ...["", "?slots=true", "?encoding=hex", "?limit=10", "?limit=20", "?prefix=key", "?prefix=ke", "?since=3"],
      `?since=${said(5)}`,
    ];
    const tags = await Promise.all(forms.map(tagOf));
    expect(new Set(tags).size).toBe(forms.length);
    for (const tag of tags) expect(tag).toMatch(/^"[\w-]{22}"$/);
    await block(7);
    for (const [i, form] of forms.entries()) {
      const same = await get(form, { "if-none-match": `"other", ${tags[i]}` });
      expect([form, same.status, same.headers.get("etag"), await same.text()]).toEqual([form, 304, tags[i], ""]);
      expect((await get(form, { "if-none-match": '"other"' })).status).toBe(200);
    }
    await block(8);
    await state(8);
    const after = await Promise.all(forms.map(tagOf));
    expect(after.filter((tag) => tags.includes(tag))).toEqual([]);
  });

  test("distinguishes blocks with the same states after a rollback, if slots are included", async () => {
    const before = [await tagOf(), await tagOf("?slots=true"), await tagOf("?since=0")];
    await store.sql`update chain_block set hash = 'another' where slot = 5`;
    const after = [await tagOf(), await tagOf("?slots=true"), await tagOf("?since=0")];
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
    expect(after[2]).not.toBe(before[2]);
  });

  test("does not confirm a client's cached answer for a token that was quarantined since", async () => {
    const before = await tagOf();
    await store.sql`insert into token_quarantine (token, reason, from_slot) values (${TOKEN}, 'why', 5)`;
    for (const form of ["", "?slots=true", "?since=0", "?limit=1"]) {
      const answer = await get(form, { "if-none-match": before });
      expect([form, answer.status, await answer.json()]).toEqual([form, 409, {
        code: "token_quarantined",
        error: expect.any(String),
        details: { reason: "why" },
      }]);
    }
  });
});

test("a token that is not live has no facts", async () => {
  await store.sql`update token_state set to_slot = 6`;
  expect((await get()).status).toBe(404);
  await store.sql`truncate token_state`;
  expect((await get()).status).toBe(404);
});
