/** Facts with their proofs over HTTP: every key, small and large tokens, and refusals. */
import { OpenAPIHono } from "@hono/zod-openapi";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import type { Builders } from "#src/threads/builders.ts";
import { startBuilders } from "#src/app/threads/builders.ts";
import { factSegment } from "#src/client/factKey.ts";
import { verifyFact } from "#src/client/proofs.ts";
import { handleErrors } from "#src/http/errors.ts";
import { proofRoutes } from "#src/tokens/http/proofs.ts";
import { digest, initHash } from "#src/forestry/hash.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import { TOKEN, TokenWithFacts } from "../../support/tokens/factAnswers.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { storeToken } from "../../support/tokens/tokenRows.ts";

let infra: Infra;
let store: Store;
let builders: Builders;
const app = new OpenAPIHono();

beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  await migrate(store, migrationsOf("chain/index", "tokens/index"));
  builders = startBuilders({ threads: 1, log: silentLog });
  handleErrors(app, silentLog);
  proofRoutes(app, { store, builders });
  await initHash();
});
afterAll(async () => {
  await builders?.stop();
  await store?.close();
  await infra?.stop();
});
beforeEach(async () => {
  await store.sql`truncate fact, token_state, token_bucket, token_quarantine, chain_block`;
  await store.sql`insert into chain_block values (5, 'five', 3, null)`;
  await store.sql`update chain_cursor set slot = 5, hash = 'five', height = 3`;
});

async function ask(segment: string, query = "", token = TOKEN) {
  const answer = await app.request(`/token/${token}/facts/${segment}${query}`);
  // deno-lint-ignore no-explicit-any
  return { status: answer.status, body: await answer.json() as any };
}

/** The answer about a key, which must be true. */
async function answerFor(token: TokenWithFacts, key: string) {
  const { segment, query } = factSegment(key);
  const { status, body } = await ask(segment, query);
  expect(status).toBe(200);
  const value = token.facts.get(key);
  expect(verifyFact(body, { tokenId: TOKEN, key, trusted: token.trusted.datum })).toEqual({
    ok: true,
    value: {
      root: toHex(token.trie.root),
      owner: token.owner,
      ...(value === undefined ? { included: false } : { included: true, text: value, value: expect.any(Uint8Array) }),
    },
  });
  return body;
}

const numbered = (count: number) =>
  new Map(Array.from({ length: count }, (_, i) => [`key ${i}`, `value ${i}`] as const));

describe("every key", () => {
  const long = "long ".repeat(1_000);
  const odd = new TokenWithFacts(
    new Map([
      ["", "empty"],
      [".", "dot"],
      ["..", "dots"],
      ["a/b", "slash"],
      ["a%2Fb", "percent"],
      ["a+b c", "plus"],
      ["ключ 🗝\0", "\u{10ffff}\n"],
      ["\udcff\udc80/", "\udcfe"],
      ["history", "of"],
      [long, "long"],
      ["__proto__", "{}"],
    ]),
  );
  beforeEach(() => storeToken(store, odd, 5, false));

  it("has its proof in the requested form, whether it is present or not", async () => {
    for (const [key, value] of odd.facts) {
      const body = await answerFor(odd, key);
      expect(body).toMatchObject({ included: true, key, value, point: { slot: 5, hash: "five", height: 3 } });
    }
    for (const key of ["...", "a", "/", "\udc80", `${long}!`]) {
      const body = await answerFor(odd, key);
      expect(body.included).toBe(false);
      expect(body).not.toHaveProperty("value");
    }
  });

  it("may be in the path percent-encoded, byte by byte, in hexadecimal or as its digest", async () => {
    const cases: [string, string, string][] = [
      ["a%2Fb", "", "slash"],
      ["a%252Fb", "", "percent"],
      ["%61%2fb", "", "slash"],
      ["a+b%20c", "", "plus"],
      ["%FF%80%2F", "", "\udcfe"],
      ["ff802F", "?encoding=hex", "\udcfe"],
      ["", "?encoding=hex", "empty"],
      ["2e2e", "?encoding=hex", "dots"],
      [toHex(digest(utf8(".."))).toUpperCase(), "?encoding=digest", "dots"],
      ["history", "", "of"],
    ];
    for (const [segment, query, value] of cases) {
      expect([segment, query, (await ask(segment, query)).body.value]).toEqual([segment, query, value]);
    }
    const absent = await ask("ab".repeat(32), "?encoding=digest");
    expect(absent).toMatchObject({ status: 200, body: { included: false, path: "ab".repeat(32) } });
    expect(absent.body).not.toHaveProperty("key");
  });

  it("that URL parsers remove from a path is refused, with the form that has it, and so is the empty text", async () => {
    for (const segment of [".", "..", "%2e", "%2E%2e", ""]) {
      const { status, body } = await ask(segment);
      expect([segment, status, body.code]).toEqual([segment, 400, "bad_request"]);
      expect(body.error).toContain("encoding=hex");
    }
  });

  it("that is invalid is refused", async () => {
    const bad = [["%zz", ""], ["%a", ""], ["%", ""], ["abc", "?encoding=hex"], ["zz", "?encoding=hex"], [
      "ab",
      "?encoding=digest",
    ]];
    for (const [segment, query] of [...bad, ["a", "?encoding=base64"]] as const) {
      expect([segment, await ask(segment!, query)]).toEqual([
        segment,
        { status: 400, body: expect.objectContaining({ code: "bad_request" }) },
      ]);
    }
  });
});

it.each([[0, false], [1, false], [2, false], [700, false], [1, true], [3_000, true]])(
  "of %i facts (cut: %s), present and absent ones are proven",
  async (count, cut) => {
    const token = new TokenWithFacts(numbered(count));
    await storeToken(store, token, 5, cut);
    for (let i = 0; i < 12; i++) {
      if (count > 0) await answerFor(token, `key ${(i * 7919) % count}`);
      await answerFor(token, `missing ${i}`);
    }
  },
);

describe("a token", () => {
  const token = new TokenWithFacts(numbered(20));
  beforeEach(() => storeToken(store, token, 5, false));

  it("that is unknown, or has ended, is a 404", async () => {
    expect(await ask("k", "", "00".repeat(32))).toMatchObject({ status: 404, body: { code: "token_unknown" } });
    await store.sql`update token_state set to_slot = 5`;
    expect(await ask("k")).toMatchObject({ status: 404, body: { code: "token_ended" } });
  });

  it("in quarantine has no proofs", async () => {
    await store.sql`insert into token_quarantine values (${TOKEN}, 'root_differs', 5, null)`;
    expect(await ask("key 1")).toMatchObject({
      status: 409,
      body: { code: "token_quarantined", details: { reason: "root_differs" } },
    });
  });

  it("whose rows do not lead to its root gives no answer", async () => {
    await store.sql`update fact set digest = ${digest(utf8("other"))} where key = ${utf8("key 1")}`;
    for (const key of ["key 1", "key 2", "missing"]) {
      expect(await ask(...segmentOf(key))).toMatchObject({ status: 409, body: { code: "token_quarantined" } });
    }
  });

  it("whose value was exchanged under the same digest gives no answer", async () => {
    await store.sql`update fact set value = ${utf8("other")} where key = ${utf8("key 1")}`;
    expect(await ask(...segmentOf("key 1"))).toMatchObject({ status: 409 });
    expect(await ask(...segmentOf("key 2"))).toMatchObject({ status: 200 });
  });

  it("whose proof cannot be made in time, or for all clients, is a 503", async () => {
    const busy = startBuilders({ threads: 1, queueLimit: 0, log: silentLog });
    const other = new OpenAPIHono();
    handleErrors(other, silentLog);
    proofRoutes(other, { store, builders: busy });
    try {
      const answer = await other.request(`/token/${TOKEN}/facts/k`);
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({ code: "overloaded" });
    } finally {
      await busy.stop();
    }
  });
});

function segmentOf(key: string): [string, string] {
  const { segment, query } = factSegment(key);
  return [segment, query];
}
