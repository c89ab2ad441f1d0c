/**
 * The page of the token service with 1,000 tokens, and a token with 10,000 facts and 1,000 open requests: what it shows,
 * and how long an interaction takes until the browser has drawn it. The rows are written into the index directly; the
 * service reads them as it reads any others.
 */
/// <reference lib="dom" />
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openStore } from "#src/store/store.ts";
import { Arbor } from "../support/service/arbor.ts";
import { sharedBrowser } from "../support/pages/sharedBrowser.ts";
import { type Infra, sharedInfra } from "../support/infra/infra.ts";
import { interactionMs, Pages } from "../support/pages/pages.ts";
import { fund, http, land, User } from "../support/service/user.ts";

const TOKENS = 1_000;
const FACTS = 10_000;
const REQUESTS = 1_000;

const browser = await sharedBrowser();

describe.skipIf(browser === undefined)("the page of the token service with much data", () => {
  let infra: Infra;
  let arbor: Arbor;
  let token: string;
  const pages = new Pages(browser!);
  const measured: [what: string, ms: number][] = [];

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra });
    const [owner, other] = [new User("base"), new User("base")];
    for (const user of [owner, other]) await fund(arbor.devnet, arbor.tokens, user);
    const boot = await http(arbor.tokens, "GET", `/transaction/${owner.address}/boot-token`);
    await land(arbor.tokens, owner.sign(boot.body.unsignedTransaction));
    const first = boot.body.value as string;
    const path = `/transaction/${other.address}/request-insert/${first}`;
    const request = await http(arbor.tokens, "POST", path, { key: "key", newValue: "value" });
    await land(arbor.tokens, other.sign(request.body.unsignedTransaction));
    const store = openStore(infra.databaseUrl, { max: 1 });
    await store.sql`insert into token_state (ref, token, owner, root, output, facts, cut, from_slot, to_slot)
      select encode(sha256(('ref' || n)::bytea), 'hex') || '#0', encode(sha256(('token' || n)::bytea), 'hex'), owner, root,
        output, case n when 1 then ${FACTS} else 0 end, false, from_slot - n % 7, null
      from token_state, generate_series(1, ${TOKENS}) n where token = ${first}`;
    [token] = (await store.sql<{ token: string }[]>`select encode(sha256('token1'::bytea), 'hex') as token`)
      .map((row) => row.token) as [string];
    await store.sql`insert into fact (entry, token, bucket, path, key, value, digest, from_slot, to_slot)
      select ${token} || ':' || path, ${token}, ${token} || ':' || left(path, 3), path, key,
        convert_to('{"number": ' || n || ', "text": "' || repeat('x', 200) || '"}', 'UTF8'), '\\x00', slot, null
      from (select n, convert_to('item/' || lpad(n::text, 6, '0'), 'UTF8') as key,
        encode(sha256(n::text::bytea), 'hex') as path, (select from_slot from token_state where token = ${token}) as slot
        from generate_series(1, ${FACTS}) n) facts`;
    await store
      .sql`insert into token_request (ref, token, owner, refund_address, fee, type, path, key, old_value, new_value,
        lovelace, output, from_slot, to_slot, position)
      select encode(sha256(('request' || n)::bytea), 'hex') || '#0', ${token}, owner, refund_address, fee, type,
        encode(sha256(n::text::bytea), 'hex'), key, old_value, new_value, lovelace, output, from_slot, null, n
      from token_request, generate_series(1, ${REQUESTS}) n where token = ${first}`;
    await store.sql`analyze`;
    await store.close();
  });
  afterEach(() => pages.close());
  afterAll(async () => {
    for (const [what, ms] of measured) console.log(`${what}: ${ms.toFixed(0)} ms`);
    await browser?.close();
    await arbor?.end();
    await infra?.stop();
  });

  const measure = async (what: string, page: Page, selector: string) =>
    void measured.push([what, await interactionMs(page, selector)]);
  /** From a key to the frame that shows the filtered rows. */
  const typed = async (what: string, page: Page, text: string, shown: () => Promise<unknown>) => {
    const begun = performance.now();
    await page.getByRole("searchbox").fill(text);
    await shown();
    measured.push([what, performance.now() - begun]);
  };

  it("lists 1,000 tokens, sorts and finds them", async () => {
    const page = await pages.open(`${arbor.tokens}/#/`);
    const rows = page.locator("tbody tr");
    await page.getByText(`1–50 of ${(TOKENS + 1).toLocaleString("en")}`).waitFor();
    expect(await rows.count()).toBe(50);
    await measure("sort 1,000 tokens", page, "th:nth-child(3) button");
    await measure("sort them the other way round", page, "th:nth-child(3) button");
    expect(await rows.first().locator("td").nth(2).textContent()).toBe("10,000");
    await measure("next page of tokens", page, ".pager button:nth-last-child(2)");
    await page.getByText("51–100 of").waitFor();
    await typed("find a token (with the 100 ms that the field waits)", page, token, async () => {
      await page.locator("tbody tr:only-child").waitFor();
    });
    expect(await rows.locator("td").nth(3).textContent()).toBe(REQUESTS.toLocaleString("en"));
  });

  it("pages through 10,000 facts and 1,000 requests, and finds one", async () => {
    const page = await pages.open(`${arbor.tokens}/#/token/${token}`);
    const facts = page.locator(".fact");
    await page.getByText("1–25 of 10,000").waitFor();
    expect(await facts.count()).toBe(25);
    await measure("open a fact", page, ".fact-key");
    await page.locator(".tree").waitFor();
    const begun = performance.now();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("26–50 of 10,000").waitFor();
    measured.push(["next page of 10,000 facts, with its answer", performance.now() - begun]);
    await typed("find a fact by its value (with the 200 ms that the field waits)", page, '"number": 9876', async () => {
      await page.locator(".fact:only-child", { hasText: "item/009876" }).waitFor();
    });
    await measure("open the requests", page, ".tabs a:nth-child(2)");
    await page.getByText("1–25 of 1,000").waitFor();
    expect(await page.locator(".request").count()).toBe(25);
    await measure("open the history", page, ".tabs a:nth-child(3)");
    await page.getByRole("list", { name: "History" }).waitFor();
  });

  it("keeps the reader waiting half a second at most, on a busy machine", () => {
    const slow = measured.filter(([what, ms]) => ms > (what.includes("waits") ? 1_000 : 500));
    expect(slow).toEqual([]);
  });
});
