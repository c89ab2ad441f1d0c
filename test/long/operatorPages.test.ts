/** The operator pages with 100,000 actors and 300,000 transitions in the last hour: what each interaction takes is printed. */
/// <reference lib="dom" />
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore } from "#src/store/store.ts";
import { Arbor } from "../support/service/arbor.ts";
import { sharedBrowser } from "../support/pages/sharedBrowser.ts";
import { type Infra, sharedInfra } from "../support/infra/infra.ts";
import { interactionMs, Pages } from "../support/pages/pages.ts";
import { http } from "../support/service/user.ts";

const ACTORS = 100_000;
const browser = await sharedBrowser();

describe.skipIf(browser === undefined)("the operator pages with 100,000 actors", () => {
  let infra: Infra;
  let arbor: Arbor;
  const pages = new Pages(browser!);

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
          insert into outbox (kind, id, version, partition, from_state, to_state, type, cause, body, at, created, published)
          select 'transaction', lpad(to_hex(i), 64, '0'), v, i % 64,
            (array['created', 'submitting', 'pending'])[v], (array['submitting', 'pending', 'in_ledger'])[v],
            (array['SUBMIT', 'ACCEPTED', 'IN_LEDGER'])[v], 'c' || v, '{}', t, t, true
          from generate_series(1, 3) v, generate_series(${n * slice}::int, ${(n + 1) * slice - 1}::int) i,
            (select now() - ${55 - 5 * n} * interval '1 minute' as t) x`;
      }
      // As autovacuum leaves them.
      await store.sql`vacuum analyze`;
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
  /**
   * Milliseconds from a click, or from an input of a value, to the frame in which all the visible parts have such texts,
   * measured in the page.
   */
  const answered = (page: Page, [selector, value]: [string, string?], parts: string, text: RegExp, count = 1) =>
    page.evaluate(async ({ selector, value, parts, text, count }) => {
      const element = document.querySelector<HTMLInputElement>(selector);
      if (element === null) throw new Error(`no element ${selector}`);
      const shown = () => {
        const all = [...document.querySelectorAll(parts)].filter((one) =>
          one.checkVisibility({ visibilityProperty: true })
        );
        return all.length >= count && all.every((one) => new RegExp(text).test(one.textContent ?? ""));
      };
      if (shown()) throw new Error(`${parts} are shown before ${selector} is used`);
      const begun = performance.now();
      if (value === undefined) element.click();
      else {
        element.value = value;
        for (const type of ["input", "change"]) element.dispatchEvent(new Event(type, { bubbles: true }));
      }
      while (!shown()) {
        if (performance.now() - begun > 20_000) throw new Error(`${parts} are not shown after ${selector} was used`);
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
      return performance.now() - begun;
    }, { selector, value, parts, text: text.source, count });
  const print = (what: string, ms: number) => console.log(`${what}: ${Math.round(ms)} ms`);
  const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1]!;

  it("stay responsive", async () => {
    for (const path of ["/activity", "/activity", "/overview", "/transitions", "/attention", "/actors?limit=50"]) {
      const begun = performance.now();
      expect((await http(arbor.operator, "GET", path)).status).toBe(200);
      print(`GET ${path}`, performance.now() - begun);
    }
    const page = await pages.open(arbor.operator);
    print("the last hour is shown", await until(page, () => page.reload(), /^30\d,\d{3} transitions since/));
    const times = new Map<string, number[]>();
    const note = async (what: string, ms: Promise<number>) => {
      times.set(what, [...times.get(what) ?? [], await ms]);
      // Until the reads that follow have ended.
      await page.waitForTimeout(300);
    };
    const search = "main input[type=search]";
    for (let i = 0; i < 5; i++) {
      const actors = answered(page, ['nav a[href="/ui/actors"]'], "main tbody td:first-child", /^transaction/, 50);
      await note("the list of actors", actors);
      const first = "main tbody tr:first-child td:first-child";
      await note("its next page", answered(page, [".pager a:last-child"], first, /0032$/));
      await note(
        "a state",
        answered(page, [".filter .field:nth-child(2) select", "refused"], "main tbody .chip", /^refused$/, 50),
      );
      await note(
        "the beginning of an id",
        answered(page, [search, `${"0".repeat(60)}00f2`], "main tbody td:first-child", /00f2$/),
      );
      await note("an actor by its link", answered(page, ["main tbody a"], ".timeline > li:first-child", /IN_LEDGER/));
      print("a version, until the next frame", await interactionMs(page, ".slider button"));
      await note(
        "the overview by its link",
        answered(page, ['nav a[href="/"]'], ".overview .panel:first-child h3:nth-of-type(1)", /transitions since/),
      );
    }
    for (const [what, all] of times) {
      console.log(`${what}: ${Math.round(median(all))} ms, at best ${Math.round(Math.min(...all))} ms`);
    }
    print("hold, until the next frame", await interactionMs(page, ".feed-panel button[aria-pressed]"));
    const address = `${arbor.operator}/ui/actors/transaction/${"0".repeat(64)}`;
    print("an actor by its address", await until(page, () => page.goto(address), "IN_LEDGER"));
  });
});
