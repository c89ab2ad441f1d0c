/** The operator pages in a browser, on the whole service: changes over HTTP appear on the open page. */
/// <reference lib="dom" />
import CSL from "@emurgo/cardano-serialization-lib-nodejs";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { appendInputs } from "#src/runtime/inputLog.ts";
import { openStore } from "#src/store/store.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { sharedBrowser } from "../../support/pages/sharedBrowser.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { itLong } from "../../support/base/longTests.ts";
import {
  expectAccessible,
  expectFits,
  expectFocusVisible,
  Pages,
  PHONE,
  withoutStorage,
} from "../../support/pages/pages.ts";
import { fund, http, land, User } from "../../support/service/user.ts";
import { until } from "../../support/base/until.ts";

/** A witness of the log that nothing serves. */
const AWAY = "http://127.0.0.1:9/a-witness-with-a-long-path/of-the-log-of-tokens";

const browser = await sharedBrowser();

describe.skipIf(browser === undefined)("the operator pages", () => {
  let infra: Infra;
  let arbor: Arbor;
  const user = new User();
  const pages = new Pages(browser!);

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra, mining: "submit", tokenLog: { witnesses: [{ url: AWAY }] } });
    await fund(arbor.devnet, arbor.tokens, user);
  });
  afterEach(() => pages.close());
  afterAll(async () => {
    await browser?.close();
    await arbor?.end();
    await infra?.stop();
  });

  const open = async (path: string, options: BrowserContextOptions = {}, base = arbor.operator): Promise<Page> => {
    const page = await pages.newPage(options);
    await page.addInitScript(() => {
      const shifts = { sum: 0 };
      Object.assign(globalThis, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) shifts.sum += (entry as unknown as { value: number }).value;
      }).observe({ type: "layout-shift", buffered: true });
    });
    await page.goto(base + path);
    // Lost if the page was reloaded.
    await page.evaluate(() => Object.assign(globalThis, { here: true }));
    return page;
  };
  const isTheSame = (page: Page) => page.evaluate(() => "here" in globalThis);
  const everyPage = (token: string) => [
    "/",
    "/ui/attention",
    "/ui/search?q=0000",
    "/ui/actors",
    `/ui/actors/token/${token}`,
    "/ui/workers",
    "/ui/dead-letters",
    "/ui/webhooks",
  ];
  const settled = async (page: Page) => {
    await page.locator("main h1").waitFor();
    await page.locator("main .settled:not(.waiting)").waitFor();
    await page.locator("main .placeholder").waitFor({ state: "detached" });
  };
  /** Nothing is wider than the phone. */
  const narrow = async (page: Page) => {
    await settled(page);
    await expectFits(page);
  };
  const live = (page: Page) => page.locator("#link[data-state=live]").waitFor();

  /** The transaction that boots a token, ready for submission. */
  const bootToken = async () => {
    const built = await http(arbor.tokens, "GET", `/transaction/${user.address}/boot-token`);
    expect(built.status).toBe(200);
    const signed = user.sign(built.body.unsignedTransaction);
    return {
      token: built.body.value as string,
      signed,
      hash: CSL.FixedTransaction.from_hex(signed).transaction_hash().to_hex(),
    };
  };
  const booted = async () => {
    const { token, signed } = await bootToken();
    await land(arbor.tokens, signed);
    await until("the token's actor", async () => (await actor("token", token)).status === 200);
    return token;
  };
  let one: Promise<string> | undefined;
  /** A token for tests that do not change it. */
  const someToken = () => one ??= booted();
  const actor = (kind: string, id: string) => http(arbor.operator, "GET", `/actors/${kind}/${encodeURIComponent(id)}`);

  it("shows a transition on the overview as it happens, and after a reload with the last hour", async () => {
    const page = await open("/");
    await live(page);
    await page.getByText("No transition yet.").waitFor();
    await page.getByText(/^0 transitions since \d\d:\d\d$/).waitFor();
    const { token, signed } = await bootToken();
    await land(arbor.tokens, signed);
    const row = page.locator(".feed li", { hasText: "booted" }).filter({
      has: page.locator(`a[href="/ui/actors/token/${token}"]`),
    });
    await row.waitFor();
    expect(await row.innerText()).toMatch(/absent\s*→\s*live/);
    await page.locator(".states a", { hasText: /^live\s*1$/ }).waitFor();
    // The token's and two or more of the transaction, each in the chart without a reload.
    await page.getByText(/^([3-9]|\d\d) transitions since/).waitFor();
    expect(await isTheSame(page)).toBe(true);
    await page.reload();
    await row.waitFor();
    expect(await row.innerText()).toMatch(/absent\s*→\s*live/);
    const chart = page.getByRole("figure").filter({ hasText: "transaction" });
    expect(await chart.locator("svg rect:not(.hit)").count()).toBeGreaterThan(1);
    await chart.getByText("Show as a table").click();
    await chart.locator("td", { hasText: /^1$/ }).first().waitFor();
  });

  itLong("updates the statechart of a watched actor, from before its creation on", async () => {
    const { token, signed, hash } = await bootToken();
    const [watched, sent] = await Promise.all([
      open(`/ui/actors/token/${token}`),
      open(`/ui/actors/transaction/${hash}`),
    ]);
    await Promise.all([live(watched), live(sent)]);
    await watched.locator(".statechart .state").first().waitFor();
    await watched.getByText("This actor has no transition yet.").waitFor();
    expect(await watched.locator(".statechart .lit").count()).toBe(0);

    await land(arbor.tokens, signed);
    await watched.locator('.statechart .lit[data-state="live"]').waitFor();
    await sent.locator('.statechart .lit[data-state="in_ledger"]').waitFor();
    // The way that it took is lit, the arrow that was taken last most of all. A block may come before the reply.
    const way = async (page: Page, look: string) =>
      await page.locator(`.statechart .arrow.${look}`).evaluateAll((all) =>
        all.map((one) => `${one.getAttribute("data-from")} ${one.getAttribute("data-to")}`)
      );
    await until("the way", async () => (await way(sent, "now")).length === 1);
    expect([["pending in_ledger"], ["submitting in_ledger"]]).toContainEqual(await way(sent, "now"));
    expect(await way(sent, "taken")).toContain("created submitting");
    expect(await way(watched, "now")).toEqual(["absent live"]);
    await watched.locator(".timeline li", { hasText: "BOOTED" }).waitFor();
    expect(await watched.locator(".badges .chip").innerText()).toBe("live");
    await sent.locator(".why", { hasText: /in the ledger since block \d+/ }).waitFor();

    const built = await http(arbor.tokens, "POST", `/transaction/${user.address}/request-insert/${token}`, {
      key: "a",
      value: "b",
    });
    expect(built.status).toBe(200);
    await land(arbor.tokens, user.sign(built.body.unsignedTransaction));
    // It leaves the token live: the box says so.
    await watched.locator(".statechart .lit text.row.now", { hasText: "↻" }).waitFor();
    await watched.locator(".statechart .last", { hasText: "REQUESTED" }).waitFor();
    await watched.locator(".timeline li", { hasText: "REQUESTED" }).waitFor();
    const { body } = await actor("token", token);
    await watched.locator(".context li", { hasText: `slot:${body.context.slot}` }).waitFor();
    expect([await isTheSame(watched), await isTheSame(sent)]).toEqual([true, true]);
  });

  itLong(
    "shows the state at any version by keyboard, with what it changed, at an address that can be kept",
    async () => {
      const token = await someToken();
      const built = await http(arbor.tokens, "POST", `/transaction/${user.address}/request-insert/${token}`, {
        key: "a",
        value: "b",
      });
      await land(arbor.tokens, user.sign(built.body.unsignedTransaction));
      await until("version 2", async () => (await actor("token", token)).body.version >= 2);
      const { body: { version, context } } = await actor("token", token);
      const first = (await http(arbor.operator, "GET", `/actors/token/${token}/at?version=1`)).body;
      expect(first.context.slot).toBeLessThan(context.slot);
      const page = await open(`/ui/actors/token/${token}`);
      const slider = page.getByRole("slider", { name: "Version" });
      await slider.focus();
      await page.keyboard.press("Home");
      await page.waitForURL(/\?version=1$/);
      await page.locator(".context li", { hasText: `slot:${first.context.slot}` }).waitFor();
      expect(await slider.getAttribute("aria-valuetext")).toBe(`version 1 of ${version}`);
      await page.locator(".statechart .last", { hasText: "Version 1: BOOTED" }).waitFor();
      await page.locator(".timeline li.chosen", { hasText: "BOOTED" }).waitFor();
      await page.keyboard.press("ArrowRight");
      if (version > 2) await page.locator(".changes", { hasText: "slot" }).waitFor();
      await page.goto(`${arbor.operator}/ui/actors/token/${token}?version=1`);
      await page.locator(".context li", { hasText: `slot:${first.context.slot}` }).waitFor();
      await page.getByRole("button", { name: "Back to the newest" }).press("Enter");
      await page.locator(".context li", { hasText: `slot:${context.slot}` }).waitFor();
      await page.goto(`${arbor.operator}/ui/actors/token/${token}?version=99999`);
      await page.getByRole("alert").filter({ hasText: `versions up to ${version}` }).waitFor();
    },
  );

  it("finds why a transaction hangs from its hash: the effect, its error and its next attempt", async () => {
    const hash = "5c".repeat(32);
    const store = openStore(infra.databaseUrl, { max: 1 });
    try {
      // As a worker leaves it that cannot reach its node.
      const context = { hash, validTo: null, attempt: 1, waiting: [], failures: [], wallets: [] };
      const snapshot = { status: "active", value: "submitting", historyValue: {}, children: {}, context };
      await store.sql`insert into actor (kind, id, partition, version, input_seq, snapshot, machine_version, state)
        values ('transaction', ${hash}, 0, 1, 0, ${store.sql.json(snapshot as never)}, 2, 'submitting')`;
      await store.sql`insert into effect (kind, id, n, partition, name, input, attempts, next_attempt, error)
        values ('transaction', ${hash}, 1, 0, 'submit', '{}', 12, now() + interval '2 hours', 'the node does not answer')`;
      const page = await open("/");
      const badge = page.locator(".nav-badge");
      await badge.waitFor();
      // A machine under load may add a worker that lags.
      expect(Number(await badge.innerText())).toBeGreaterThanOrEqual(1);
      // By keyboard: pasted into the search of the header.
      await page.getByRole("searchbox", { name: "Find an actor" }).focus();
      await page.keyboard.insertText(` ${hash.toUpperCase()} `);
      await page.keyboard.press("Enter");
      await page.waitForURL(`${arbor.operator}/ui/actors/transaction/${hash}`);
      const why = page.locator(".why", { hasText: "Why it is stuck" });
      await why.locator("li.bad", { hasText: "The effect submit #1 failed 12 times. Next attempt in 2 h." }).waitFor();
      await why.getByText("the node does not answer").waitFor();
      await page.goBack();
      await page.getByRole("link", { name: /^Attention/ }).click();
      const item = page.locator(".attention .item", { hasText: "the node does not answer" });
      await item.getByText("What to do:").waitFor();
      await item.locator(`a[href="/ui/actors/transaction/${hash}"]`).waitFor();
      await page.goto(`${arbor.operator}/ui/search?q=${"ff".repeat(32)}`);
      await page.getByText("This service knows no actor and no transaction of this hash.").waitFor();
    } finally {
      await store.sql`delete from effect where id = ${hash}`;
      await store.sql`delete from actor where id = ${hash}`;
      await store.close();
    }
  });

  it("shows how long an actor was in its states and what concerns it, and lists actors by time and failures", async () => {
    const token = await someToken();
    const page = await open(`/ui/actors/token/${token}`);
    const durations = page.getByRole("region", { name: "Durations" });
    const states = durations.getByRole("table", { name: "Time in states" });
    await states.getByRole("row", { name: /live now 1 / }).waitFor();
    const transaction = durations.locator('.lane a[href^="/ui/actors/transaction/"]').first();
    await durations.getByText(/pending \d.*in_ledger/).first().waitFor();
    await transaction.click();
    const effects = durations.getByRole("table", { name: "Durations of effects" });
    await effects.getByRole("row", { name: /^submit 1 \d/ }).waitFor();
    await page.goto(`${arbor.operator}/ui/actors?sort=newest&changed=1h`);
    const rows = page.getByRole("table", { name: "Actors" }).locator("tbody tr");
    await rows.filter({ hasText: token.slice(0, 6) }).waitFor();
    await page.getByLabel("Last change").selectOption("more than a day ago");
    await page.getByText("No actor matches.").waitFor();
    await page.getByLabel("Last change").selectOption("any time");
    await rows.first().waitFor();
    await page.getByLabel("Failures").selectOption("none");
    await page.waitForURL(/sort=newest/);
    await rows.filter({ hasText: token.slice(0, 6) }).waitFor();
  });

  it("says that it loads, that the service refuses or is away, and never that there is nothing", async () => {
    const token = await someToken();
    const page = await open("/ui/nowhere");
    // A service that answers after a while.
    let answer = (): void => {};
    const slow = new Promise<void>((resolve) => answer = resolve);
    const isPage = (url: URL) => url.pathname.startsWith("/actors/") || url.pathname === "/dead-letters";
    await page.route(isPage, async (route) => {
      await slow;
      await route.continue();
    });
    await page.goto(`${arbor.operator}/ui/dead-letters`);
    await page.locator("main .placeholder.late").waitFor();
    expect(await page.locator("main").innerText()).not.toMatch(/No dead|None/);
    answer();
    await page.getByText("No dead letters.").waitFor();
    // One that is not there any more: what was read stays, and is called old.
    await page.unroute(isPage);
    await page.route(isPage, (route) => route.abort());
    await page.getByRole("alert").filter({ hasText: "may be out of date" }).waitFor();
    await page.locator("#link[data-state=stale]").waitFor();
    await page.getByText("No dead letters.").waitFor();
    await page.unroute(isPage);
    // What several parts of a view say is said once, and their data comes at the press of one button.
    const isData = (url: URL) => !url.pathname.startsWith("/ui");
    await page.route(isData, (route) => route.request().resourceType() === "fetch" ? route.abort() : route.continue());
    await page.goto(`${arbor.operator}/ui/`);
    await page.locator(".sections [aria-current]", { hasText: "Overview" }).waitFor();
    await page.getByText("This could not be read.").first().waitFor();
    await page.locator("main > [role=alert]", { hasText: "The service cannot be reached." }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(1);
    await page.unroute(isData);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("alert").waitFor({ state: "detached" });
    // One that lies: no JSON.
    await page.route(
      isPage,
      (route) => route.fulfill({ status: 200, contentType: "text/html", body: "<h1>hello</h1>" }),
    );
    await page.goto(`${arbor.operator}/ui/actors/token/${token}`);
    await page.getByRole("alert").filter({ hasText: "is not JSON" }).first().waitFor();
    expect(await page.locator("main h1").innerText()).toContain(token);
    await page.getByRole("button", { name: "Try again" }).first().waitFor();
    // Once it answers again, the page goes on by itself.
    await page.unroute(isPage);
    await page.locator(".context li", { hasText: "root" }).first().waitFor();
  });

  itLong("keeps its rows while one of them has the focus, and keeps folded parts folded", async () => {
    const token = await booted();
    const page = await open("/");
    const watched = await open(`/ui/actors/token/${token}`);
    await Promise.all([live(page), live(watched)]);
    await watched.locator(".timeline li").first().waitFor();
    const another = await booted();
    const row = page.locator(`.feed a[href="/ui/actors/token/${another}"]`).first();
    await row.focus();
    const before = await page.locator(".feed li").count();
    const held = async () => /Held: \d+ new/.test(await page.locator(".feed-panel .panel-aside .note").innerText());
    await booted();
    await until("some held", held);
    expect(await row.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await page.locator(".feed li").count()).toBe(before);
    await page.getByRole("button", { name: "Hold" }).focus();
    await until("the rows that were held", async () => await page.locator(".feed li").count() > before);

    await watched.locator("summary", { hasText: "As a list" }).click();
    await watched.locator(".as-list table").waitFor();
    const built = await http(arbor.tokens, "POST", `/transaction/${user.address}/request-insert/${token}`, {
      key: "a",
      value: "b",
    });
    await land(arbor.tokens, user.sign(built.body.unsignedTransaction));
    await watched.locator(".timeline li", { hasText: "REQUESTED" }).waitFor();
    expect(await watched.locator(".as-list").getAttribute("open")).not.toBeNull();
    const summary = watched.locator(".as-list summary");
    expect(await summary.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  it("pauses and resumes by keyboard alone, and returns the focus", async () => {
    const token = await booted();
    const page = await open(`/ui/actors/token/${token}`);
    const focusOn = async (name: string) => {
      for (let i = 0; i < 60; i++) {
        await page.keyboard.press("Tab");
        if (await page.evaluate((text) => document.activeElement?.textContent === text, name)) return;
      }
      throw new Error(`the Tab key does not reach ${name}`);
    };
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await focusOn("Pause");
    await page.keyboard.press("Enter");
    await page.locator("dialog[open]").waitFor();
    // Cancelled first, then confirmed.
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    expect((await actor("token", token)).body.paused).toBe(false);
    await page.keyboard.press("Enter");
    await page.locator("dialog[open]").waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".badges", { hasText: "paused" }).waitFor();
    await page.locator(".why", { hasText: "It is paused" }).waitFor();
    expect((await actor("token", token)).body.paused).toBe(true);
    await page.getByRole("button", { name: "Resume" }).waitFor();
    await until("the focus", () => page.evaluate(() => document.activeElement?.textContent === "Resume"), 60_000);
    await page.keyboard.press("Enter");
    await page.locator("dialog[open]").waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Pause" }).waitFor();
    expect((await actor("token", token)).body.paused).toBe(false);
  });

  it("shows why an action was refused, next to its control", async () => {
    const token = await someToken();
    const page = await open(`/ui/actors/token/${token}`);
    await page.getByRole("button", { name: "Passivate" }).waitFor();
    await page.route(
      "**/passivate",
      (route) => route.fulfill({ status: 503, json: { code: "unavailable", error: "Nobody answers." } }),
    );
    await page.getByRole("button", { name: "Passivate" }).click();
    await page.locator("dialog button[type=submit]").click();
    await page.locator("dialog [role=alert]", { hasText: "Nobody answers." }).waitFor();
    await page.keyboard.press("Escape");
  });

  itLong("follows links, filters and the back button without a reload", async () => {
    const token = await someToken();
    const page = await open("/");
    await page.locator(".kind-row", { hasText: "token" }).waitFor();
    await page.locator(".feed li").first().waitFor();
    await page.getByRole("link", { name: "Actors", exact: true }).click();
    await page.getByLabel("Kind").selectOption("token");
    await page.waitForURL(/\/ui\/actors\?kind=token$/);
    await page.getByRole("searchbox", { name: "Beginning of the id" }).fill(token.slice(0, 12));
    await page.waitForURL(new RegExp(`q=${token.slice(0, 12)}`));
    const rows = page.locator("tbody tr");
    await until("one row", async () => await rows.count() === 1);
    await rows.getByRole("link").click();
    await page.locator("h1", { hasText: token }).waitFor();
    expect(await page.title()).toContain(token);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
    await page.goBack();
    await page.waitForURL(/q=/);
    await until("one row again", async () => await rows.count() === 1);
    expect(await page.getByRole("searchbox", { name: "Beginning of the id" }).inputValue()).toBe(token.slice(0, 12));
    await page.goBack();
    await page.goBack();
    // What the overview showed is there before its data has been read again.
    await page.route(/\/(overview|activity|attention|transitions)\b/, () => {});
    await page.goBack();
    await page.locator("h1", { hasText: "Overview" }).waitFor();
    await page.locator(".kind-row", { hasText: "token" }).waitFor();
    await page.locator(".feed li").first().waitFor();
    expect(await isTheSame(page)).toBe(true);
  });

  itLong("shows what an event concerns, and finds a token by its owner's address", async () => {
    const token = await someToken();
    const page = await open(`/ui/actors/token/${token}`, PHONE);
    const first = page.locator(".timeline > li", { hasText: "BOOTED" });
    await first.locator("summary").first().click();
    await first.locator(".tree", { hasText: "root" }).first().waitFor();
    await first.locator(".cause", { hasText: /^Cause: input:\d+/ }).waitFor();
    await first.locator("a[href^='/ui/actors/transaction/']").first().waitFor();
    await narrow(page);
    await page.goto(`${arbor.operator}/ui/search?q=${user.address}`);
    const hit = page.locator("tbody tr", { hasText: "its owner has this address" });
    await hit.locator(`a[href="/ui/actors/token/${token}"]`).waitFor();
    await narrow(page);
    await page.goto(`${arbor.operator}/ui/actors?q=${user.address}`);
    await page.getByText("No actor's id begins with this.").waitFor();
    await page.getByRole("link", { name: /^Search for it/ }).click();
    await hit.first().waitFor();
  });

  it("finds a wallet by a part of its name", async () => {
    const { id } = await new WalletClient(arbor.wallets).create({
      name: "Holiday savings",
      mnemonic_sentence: newMnemonic(15),
      passphrase: "correct horse",
    });
    const page = await open("/");
    await page.getByRole("searchbox", { name: "Find an actor" }).fill("day SAV");
    await page.keyboard.press("Enter");
    const hit = page.locator("tbody tr", { hasText: "Holiday savings" });
    await hit.getByText("its name contains the text").waitFor();
    await hit.getByRole("link").press("Enter");
    await page.locator("h1", { hasText: id }).waitFor();
    expect(await isTheSame(page)).toBe(true);
  });

  it("releases a quarantined token, from what needs attention on", async () => {
    const token = await booted();
    const { body: { transitions } } = await http(arbor.operator, "GET", `/actors/token/${token}/history`);
    const [{ slot, height, hash: block }] = transitions[0].causes;
    const store = openStore(infra.databaseUrl, { max: 1 });
    try {
      // As the follower writes it. The requests explain the token's state, so that a replay ends it.
      await store.sql.begin(async (sql) => {
        await sql`insert into token_quarantine (token, reason, from_slot) values (${token}, 'An unknown datum.', ${slot})`;
        const event = { type: "QUARANTINED", slot, height, block, reason: "An unknown datum." };
        await appendInputs(sql, [{ entity: { kind: "token", id: token }, event }]);
      });
    } finally {
      await store.close();
    }
    const page = await open("/ui/attention");
    const item = page.locator(".attention > li", { hasText: "An unknown datum." });
    await item.getByRole("link", { name: "Open the token" }).press("Enter");
    await page.locator(".badges", { hasText: "quarantined" }).waitFor();
    await page.getByRole("button", { name: "Release" }).press("Enter");
    await page.locator("dialog button[type=submit]").press("Enter");
    await page.locator(".timeline li", { hasText: "RELEASED" }).waitFor();
    await page.locator(".badges", { hasText: "live" }).waitFor();
    await page.getByRole("button", { name: "Release" }).waitFor({ state: "detached" });
    expect((await http(arbor.tokens, "GET", `/token/${token}`)).body.status).toBe("live");
  });

  it("fits a phone, and does not shift as responses arrive", async () => {
    const token = await someToken();
    const page = await open("/", PHONE);
    for (const path of everyPage(token)) {
      // A busy machine draws frames between responses that arrive together elsewhere: one calm load is enough.
      await until(`${path} does not shift`, async () => {
        await page.goto(arbor.operator + path);
        await live(page);
        await settled(page);
        const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: { sum: number } }).shifts.sum);
        await expectFits(page);
        // The limit of the Web Vitals for good; 0.5 was observed where panels fill one after the other.
        return shifts < 0.1;
      });
    }
    // The chart of a transaction is wider than the phone; its state is in view all the same.
    const { body } = await http(arbor.operator, "GET", "/actors?kind=transaction&state=in_ledger&limit=1");
    await page.goto(`${arbor.operator}/ui/actors/transaction/${body.actors[0].id}`);
    await page.locator(".statechart .lit").waitFor();
    const chart = page.locator(".statechart-scroll");
    expect(await chart.evaluate((one) => one.scrollWidth > one.clientWidth)).toBe(true);
    await until("the state is in view", () =>
      chart.evaluate((one) => {
        const [state, panel] = [one.querySelector(".lit")!, one].map((part) => part.getBoundingClientRect());
        return state!.left >= panel!.left && state!.right <= panel!.right;
      }));
  });

  itLong("shows each statechart whole at 1280 pixels", async () => {
    const page = await open(`/ui/actors/token/${await someToken()}`, { viewport: { width: 1280, height: 900 } });
    for (const kind of ["token", "transaction", "wallet", "shared-wallet", "delegation"]) {
      await page.goto(`${arbor.operator}/ui/actors/${kind}/${kind === "token" ? await someToken() : "none"}`);
      const holder = page.locator(".statechart-scroll");
      await holder.waitFor();
      expect([kind, await holder.evaluate((one) => one.scrollWidth - one.clientWidth)]).toEqual([kind, 0]);
      await settled(page);
      await expectFits(page);
    }
  });

  it("shows a witness that is away with its reason, on a phone too", async () => {
    const page = await open("/", PHONE);
    const witness = page.locator(".witnesses li", { hasText: AWAY });
    await witness.getByText(/^never signed; refused .*ECONNREFUSED/).waitFor();
    await expectFits(page);
    await expectAccessible(page, "the log of tokens");
  });

  it("has no axe violations, in the light and in the dark theme, and shows where the focus is", async () => {
    const token = await someToken();
    // Without motion, so that no colour is measured in the middle of a transition.
    const page = await open("/", { reducedMotion: "reduce" });
    for (const path of everyPage(token)) {
      await page.goto(arbor.operator + path);
      await live(page);
      await settled(page);
      if (path.includes(token)) await page.locator(".statechart .lit").waitFor();
      await expectAccessible(page, path);
      await expectFocusVisible(page);
    }
    await page.goto(`${arbor.operator}/ui/webhooks`);
    await page.getByRole("button", { name: "Add a webhook" }).click();
    await page.locator("dialog[open]").waitFor();
    await expectAccessible(page, "a dialog");
  });

  itLong("adds a webhook, shows its secret once, keeps opened parts open, and removes it", async () => {
    const page = await open("/ui/webhooks");
    await live(page);
    await page.getByRole("button", { name: "Add a webhook" }).press("Enter");
    const url = page.getByLabel("URL");
    expect(await url.evaluate((element) => element === document.activeElement)).toBe(true);
    await url.fill("https://127.0.0.1/hook");
    await page.keyboard.press("Enter");
    await page.locator("dialog [role=alert]", { hasText: "private networks" }).waitFor();
    // A host name that never resolves (RFC 2606).
    await url.fill("https://nobody.invalid/hook");
    await page.getByLabel("Actor kind").selectOption("token");
    await page.getByLabel("Only this transition").fill("ROLLED_BACK");
    await url.press("Enter");
    const secret = page.getByRole("textbox", { name: "Secret" });
    await secret.waitFor();
    expect(await secret.inputValue()).toMatch(/^whsec_[A-Za-z0-9+/]{32,}=*$/);
    const row = page.locator(".hooks > li", { hasText: "nobody.invalid" });
    await row.locator(".note", { hasText: "Receives token, rolled-back" }).waitFor();
    await page.getByRole("button", { name: "I have stored it" }).click();
    expect(await page.content()).not.toContain("whsec_");
    await row.locator("summary").click();
    await row.locator("details .nothing", { hasText: "No delivery yet." }).waitFor();
    // As when the page becomes visible again, which reloads its data.
    const again = page.waitForResponse((response) => response.url().endsWith("/webhooks"));
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await again;
    expect(await row.locator("details").getAttribute("open")).not.toBeNull();
    await row.getByRole("button", { name: /^Remove/ }).press("Enter");
    await page.locator("dialog button[type=submit]").press("Enter");
    await page.locator(".empty", { hasText: "No webhook." }).waitFor();
    expect((await http(arbor.operator, "GET", "/webhooks")).body).toEqual({ webhooks: [] });
  });

  it("executes nothing from ids, contexts, causes and errors", async () => {
    // Markup, a template, an override of the writing direction, Arabic, and no line break opportunity: 200 characters.
    const evil = (`"><img src=x onerror="globalThis.taken=1"><script>globalThis.taken=1</script>'\${taken=1}` +
      `\u202e\u0645\u0631\u062d\u0628\u0627`).padEnd(200, "W");
    const store = openStore(infra.databaseUrl, { max: 1 });
    try {
      const snapshot = {
        status: "active",
        value: "live",
        historyValue: {},
        children: {},
        context: { [evil]: evil, deep: [{ [evil]: evil }] },
      };
      await store.sql`insert into actor (kind, id, partition, version, input_seq, snapshot, machine_version, state)
        values ('token', ${evil}, 0, 1, 0, ${store.sql.json(snapshot as never)}, 1, ${evil})`;
      await store.sql`insert into outbox (kind, id, version, partition, from_state, to_state, type, cause, body, at)
        values ('token', ${evil}, 1, 0, ${evil}, 'live', ${evil}, ${evil}, '{}', now())`;
      await store.sql`insert into dead_letter (kind, id, source, cause, event, error)
        values ('token', ${evil}, 'command', ${evil}, ${JSON.stringify({ type: evil, [evil]: evil })}, ${evil})`;
    } finally {
      await store.close();
    }
    const unharmed = async (page: Page) => {
      expect(await page.evaluate(() => "taken" in globalThis)).toBe(false);
      expect(await page.locator("img, main script").count()).toBe(0);
      await narrow(page);
    };
    const page = await open(`/ui/actors/token/${encodeURIComponent(evil)}`, PHONE);
    const at = (path: string) => page.goto(arbor.operator + path);
    await page.locator("h1", { hasText: evil }).waitFor();
    await page.locator(".context li", { hasText: evil }).first().waitFor();
    await page.locator(".timeline .cause", { hasText: evil }).waitFor();
    // The override ends with the text: the version is at the right end of the line.
    const version = await page.locator(".timeline .version").first().boundingBox();
    expect(version!.x).toBeGreaterThan(PHONE.viewport!.width / 2);
    await unharmed(page);
    await at("/ui/actors?kind=token");
    await page.locator(".chip", { hasText: evil }).waitFor();
    await unharmed(page);
    await page.locator("tr", { hasText: "onerror" }).getByRole("link").click();
    await page.locator("h1", { hasText: evil }).waitFor();
    await at("/ui/dead-letters");
    await page.locator(".letter .error", { hasText: evil }).waitFor();
    await page.locator("summary").click();
    await unharmed(page);
    await page.getByRole("button", { name: /^Drop/ }).click();
    await page.locator("dialog button[type=submit]").click();
    await page.locator(".empty", { hasText: "No dead letters." }).waitFor();
    await at("/");
    await page.locator(".kind-row a", { hasText: evil }).waitFor();
    await unharmed(page);
  });

  it("requests the token if the service requires one, moves a partition, reports stale data and catches up", async () => {
    const token = "a-token-of-the-operator";
    const env = { ARBOR_OPERATOR_TOKEN: token };
    const start = (port: string) =>
      Arbor.start({ infra, roles: "edge,worker", env: { ...env, ARBOR_OPERATOR_PORT: port } });
    let second = await start("0");
    try {
      const page = await open("/ui/workers", {}, second.operator);
      const field = page.getByLabel("Token");
      await field.waitFor();
      await expectAccessible(page, "the login");
      await field.fill("not-the-right-token");
      await page.keyboard.press("Enter");
      // Several calls of the page are refused; input in the meantime stays.
      await page.getByRole("alert").filter({ hasText: "rejected" }).waitFor();
      await field.pressSequentially("typed meanwhile", { delay: 20 });
      expect(await field.inputValue()).toBe("typed meanwhile");
      expect(await page.getByRole("alert").filter({ hasText: "rejected" }).isVisible()).toBe(true);
      // no header can carry it
      await field.fill("не тот ключ");
      await page.keyboard.press("Enter");
      await field.fill(token);
      await page.keyboard.press("Enter");
      await live(page);
      expect(await page.evaluate(() => document.cookie + localStorage.length)).toBe("0");
      // where the browser keeps nothing, it holds until the page is closed
      const kept = await withoutStorage(await pages.newPage());
      await kept.goto(`${second.operator}/ui/workers`);
      await kept.getByLabel("Token").fill(token);
      await kept.keyboard.press("Enter");
      await live(kept);
      await kept.goto(`${second.operator}/docs`);
      await kept.getByLabel("Token").fill("не тот ключ");
      await kept.keyboard.press("Enter");
      await kept.getByRole("alert").filter({ hasText: "rejected" }).waitFor();
      await kept.getByLabel("Token").fill(token);
      await kept.keyboard.press("Enter");
      await kept.locator("h1", { hasText: "operator" }).waitFor();

      // A partition to the other worker, by keyboard.
      await until("two workers", async () => await page.locator(".worker .badge.good").count() === 2);
      await until("an owner each", async () => await page.locator(".cell.free").count() === 0);
      const first = page.locator('.cell[data-id="0"]');
      await first.focus();
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("ArrowDown");
      const cell = page.locator('.cell[data-id="17"]');
      expect(await cell.evaluate((element) => element === document.activeElement)).toBe(true);
      const before = await cell.locator(".owner").innerText();
      await page.keyboard.press("Enter");
      await page.locator("dialog[open]").waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.locator("dialog button[type=submit]").press("Enter").catch(() => {});
      await until("another owner", async () => await cell.locator(".owner").innerText() !== before);

      // The service stops and comes back: changes in the meantime appear without a reload.
      await page.getByRole("link", { name: "Overview" }).click();
      await live(page);
      await page.locator(".kind-row").first().waitFor();
      await second.end();
      await page.locator("#link[data-state=stale]").waitFor();
      const missed = await booted();
      second = await start(new URL(second.operator).port);
      await live(page);
      await page.locator(`.feed a[href="/ui/actors/token/${missed}"]`).first().waitFor();
      expect(await isTheSame(page)).toBe(true);
    } finally {
      await second.end();
    }
  });
});
