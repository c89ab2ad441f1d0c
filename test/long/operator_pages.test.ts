/** The operator pages with 100,000 actors and 300,000 transitions in the last hour: what each interaction takes is printed. */
/// <reference lib="dom" />
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore } from "#src/store/store.ts";
import { Arbor } from "../support/arbor.ts";
import { startBrowser } from "../support/browser.ts";
import { type Infra, sharedInfra } from "../support/infra.ts";
import { interactionMs, Pages } from "../support/pages.ts";
import { http } from "../support/user.ts";

const ACTORS = 100_000;
const browser = await startBrowser();

describe.skipIf(browser === undefined)("the operator pages with 100,000 actors", () => {
  let infra: Infra;
  let arbor: Arbor;
  const pages = new Pages(browser!);
  const first = "0".repeat(64);

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra });
    const store = openStore(infra.databaseUrl, { max: 1 });
    try {
      await store.sql`
        insert into actor (kind, id, partition, version, input_seq, snapshot, machine_version, state)
        select 'transaction', lpad(to_hex(i), 64, '0'), i % 64, 3, 0,
          jsonb_build_object('status', 'active', 'value', 'in_ledger', 'historyValue', '{}'::jsonb, 'children', '{}'::jsonb,
            'context', '{"validTo": null, "attempt": 1, "height": 5, "valid": true, "failures": []}'::jsonb), 2,
          (array['in_ledger', 'expired', 'refused', 'forgotten'])[1 + i % 4]
        from generate_series(0, ${ACTORS - 1}) i`;
      const slice = ACTORS / 10;
      for (let n = 0; n < 10; n++) {
        await store.sql`
          insert into outbox (kind, id, version, partition, from_state, to_state, type, cause, body, at, created)
          select 'transaction', lpad(to_hex(i), 64, '0'), v, i % 64,
            (array['created', 'submitting', 'pending'])[v], (array['submitting', 'pending', 'in_ledger'])[v],
            (array['SUBMIT', 'ACCEPTED', 'IN_LEDGER'])[v], 'c' || v, '{}', t, t
          from generate_series(1, 3) v, generate_series(${n * slice}::int, ${(n + 1) * slice - 1}::int) i,
            (select now() - ${55 - 5 * n} * interval '1 minute' as t) x`;
      }
      await store.sql`analyze`;
    } finally {
      await store.close();
    }
  });
  afterAll(async () => {
    await pages.close();
    await browser?.close();
    await arbor?.end();
    await infra?.stop();
  });

  /** Milliseconds until something appears. */
  const until = async (page: Page, act: () => Promise<unknown>, text: string | RegExp) => {
    const begun = performance.now();
    await act();
    await page.locator("main").getByText(text).locator("visible=true").first().waitFor();
    return Math.round(performance.now() - begun);
  };
  const print = (what: string, ms: number) => console.log(`${what}: ${Math.round(ms)} ms`);

  it("stay responsive", async () => {
    for (const path of ["/activity", "/activity", "/overview", "/transitions", "/attention", "/actors?limit=50"]) {
      const begun = performance.now();
      expect((await http(arbor.operator, "GET", path)).status).toBe(200);
      print(`GET ${path}`, performance.now() - begun);
    }
    const page = await pages.open(arbor.operator);
    print("the last hour is shown", await until(page, () => page.reload(), /^30\d,\d{3} transitions since/));
    print(
      "the list of actors",
      await until(page, () => page.getByRole("link", { name: "Actors", exact: true }).click(), "50 shown"),
    );
    print("next page, until the next frame", await interactionMs(page, ".pager a:last-child"));
    await page.waitForURL(/after=/);
    print(
      "a state, until its actors",
      await until(page, () => page.getByLabel("State").selectOption("refused"), /^refused$/),
    );
    expect(await page.locator("tbody tr").count()).toBe(50);
    print(
      "the beginning of an id, until its actor",
      await until(
        page,
        () => page.getByRole("searchbox", { name: "Beginning of the id" }).fill(`${"0".repeat(60)}00f2`),
        /…0000f2$/,
      ),
    );
    print(
      "an actor",
      await until(page, () => page.goto(`${arbor.operator}/ui/actors/transaction/${first}`), "IN_LEDGER"),
    );
    await page.locator(".slider").waitFor();
    print("a version, until the next frame", await interactionMs(page, ".slider button"));
    print(
      "the overview by its link",
      await until(page, () => page.getByRole("link", { name: "Overview" }).click(), /transitions since/),
    );
    print("hold, until the next frame", await interactionMs(page, ".feed-panel button[aria-pressed]"));
  });
});
