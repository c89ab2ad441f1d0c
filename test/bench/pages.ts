/**
 * Benchmark of the pages in Chromium: bundling, size of the first load, first paint without and with a warm cache, each
 * against its limit, and when the page's own content stands. An empty static page is the browser's own part: all pages
 * take turns with it, since other load on the machine changes within a run.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { startBrowser } from "../support/pages/browser.ts";
import { startArbor } from "./arbor.ts";
import { percentile, table } from "./machine.ts";

const RELOADS = 30;
const LIMITS = { kilobytes: 60, paintMs: 100 };
/** Milliseconds after the first paint in which the content is expected to be drawn. */
const CONTENT_MS = 400;
const EMPTY = "<!doctype html><title>Empty</title><p>Text";

/** Prints the table. */
export async function benchPages(): Promise<void> {
  const browser = await startBrowser();
  if (browser === undefined) throw new Error("the pages are measured in Chromium");
  const folder = await mkdtemp(join(tmpdir(), "arbor-bench-"));
  const running = await startArbor(folder, ["--block-ms", "1000"]);
  const empty = createServer((_, answer) => void answer.setHeader("content-type", "text/html").end(EMPTY));
  await new Promise<void>((resolve) => empty.listen(0, "127.0.0.1", resolve));
  try {
    const { tokens, wallets, devnet, operator } = running;
    const emptyAt = `http://127.0.0.1:${(empty.address() as AddressInfo).port}`;
    const opened: Opened[] = [];
    for (
      const [name, url] of Object.entries({ "an empty page": emptyAt, tokens, wallets, explorer: devnet, operator })
    ) opened.push(await open(browser, name, new URL("/", url).href));
    for (let i = 0; i < RELOADS; i++) {
      for (const { page, url, warm } of opened) {
        await page.goto("about:blank");
        await page.goto(url);
        warm.push(await paints(page));
      }
    }
    const head = ["page", "first request, ms", `first load, kB gzip (limit ${LIMITS.kilobytes})`, "cold paint, ms"];
    const rows = opened.map(({ cells, warm }) => [
      ...cells,
      spread(warm.map(({ first }) => first)),
      spread(warm.map(({ content }) => content)),
    ]);
    head.push(`warm paint p50 / p90, ms (limit ${LIMITS.paintMs})`, "warm content p50 / p90, ms");
    for (const line of table(head, rows)) console.log(line);
  } finally {
    await running.end();
    await browser.close();
    empty.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A page of the benchmark, opened once. */
interface Opened {
  readonly page: Page;
  readonly url: string;
  /** The cells of its row that are known. */
  readonly cells: readonly string[];
  readonly warm: Paints[];
}

/** Milliseconds from the navigation. */
interface Paints {
  /** Until the browser has drawn anything. */
  readonly first: number;
  /** Until it has drawn the largest part. */
  readonly content: number;
}

const spread = (all: readonly number[]) => `${round(percentile(all, 0.5))} / ${round(percentile(all, 0.9))}`;
const round = (ms: number) => ms.toFixed(0);

async function open(browser: Browser, name: string, url: string): Promise<Opened> {
  const begun = performance.now();
  await (await fetch(url)).text();
  const bundled = performance.now() - begun;
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.goto(url);
  const cold = await paints(page);
  const loaded = await page.evaluate(() =>
    performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => /\.(js|css)$/.test(name))
  );
  const texts = await Promise.all([url, ...loaded].map(async (file) => await (await fetch(file)).text()));
  const size = texts.reduce((sum, text) => sum + gzipSync(text).length, 0);
  return { page, url, cells: [name, round(bundled), (size / 1000).toFixed(1), round(cold.first)], warm: [] };
}

async function paints(page: Page): Promise<Paints> {
  return await page.evaluate(async (ms) => {
    const wait = (time: number) => new Promise((resolve) => setTimeout(resolve, time));
    let entry: PerformanceEntry | undefined;
    while ((entry = performance.getEntriesByName("first-contentful-paint")[0]) === undefined) await wait(5);
    await wait(ms);
    const content = await new Promise<number>((resolve) => {
      new PerformanceObserver((list) => resolve(list.getEntries().at(-1)!.startTime))
        .observe({ type: "largest-contentful-paint", buffered: true });
    });
    return { first: entry.startTime, content };
  }, CONTENT_MS);
}
