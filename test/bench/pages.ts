/**
 * Benchmark of the pages in Chromium: bundling, size of the first load, first paint without and with a warm cache; each
 * against its limit.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { startBrowser } from "../support/browser.ts";
import { startArbor } from "./arbor.ts";
import { percentile, table } from "./machine.ts";

const RELOADS = 20;
const LIMITS = { kilobytes: 60, paintMs: 100 };

/** Prints the table. */
export async function benchPages(): Promise<void> {
  const browser = await startBrowser();
  if (browser === undefined) throw new Error("the pages are measured in Chromium");
  const folder = await mkdtemp(join(tmpdir(), "arbor-bench-"));
  const running = await startArbor(folder, ["--block-ms", "1000"]);
  try {
    const { tokens, wallets, devnet, operator } = running;
    const rows: string[][] = [];
    for (const [name, url] of Object.entries({ tokens, wallets, explorer: devnet, operator })) {
      rows.push([name, ...await measured(browser, new URL("/", url).href)]);
    }
    const head = ["page", "first request, ms", `first load, kB gzip (limit ${LIMITS.kilobytes})`, "cold paint, ms"];
    for (const line of table([...head, `warm paint p50 / p90, ms (limit ${LIMITS.paintMs})`], rows)) console.log(line);
  } finally {
    await running.end();
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measured(browser: Browser, url: string): Promise<string[]> {
  const begun = performance.now();
  await (await fetch(url)).text();
  const bundled = performance.now() - begun;
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.goto(url);
  const cold = await firstPaint(page);
  const loaded = await page.evaluate(() =>
    performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => /\.(js|css)$/.test(name))
  );
  const texts = await Promise.all([url, ...loaded].map(async (file) => await (await fetch(file)).text()));
  const size = texts.reduce((sum, text) => sum + gzipSync(text).length, 0);
  const warm: number[] = [];
  for (let i = 0; i < RELOADS; i++) {
    await page.goto("about:blank");
    await page.goto(url);
    warm.push(await firstPaint(page));
  }
  await context.close();
  const round = (ms: number) => ms.toFixed(0);
  return [
    round(bundled),
    (size / 1000).toFixed(1),
    round(cold),
    `${round(percentile(warm, 0.5))} / ${round(percentile(warm, 0.9))}`,
  ];
}

/** Milliseconds from the navigation until the browser has drawn the first content. */
async function firstPaint(page: Page): Promise<number> {
  return await page.evaluate(async () => {
    for (;;) {
      const [entry] = performance.getEntriesByName("first-contentful-paint");
      if (entry !== undefined) return entry.startTime;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
}
