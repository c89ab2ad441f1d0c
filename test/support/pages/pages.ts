/** Opens pages in a browser, and checks what holds for each of them. */
/// <reference lib="dom" />
import axe from "axe-core";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";

/** A usual phone. */
export const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 780 },
  deviceScaleFactor: 2,
  hasTouch: true,
};

/** A page whose browser keeps nothing for it, as with all cookies and site data blocked. */
export async function withoutStorage(page: Page): Promise<Page> {
  await page.addInitScript(() => {
    for (const name of ["localStorage", "sessionStorage"]) {
      Object.defineProperty(globalThis, name, {
        get() {
          throw new DOMException("denied", "SecurityError");
        },
      });
    }
  });
  return page;
}

/** Pages of one test file. */
export class Pages {
  /** URLs of all requests. */
  readonly requested: string[] = [];
  private readonly faults: string[] = [];
  private readonly contexts: BrowserContext[] = [];

  constructor(private readonly browser: Browser) {}

  /** Opens a URL in a context of its own. Errors of the page, and what its policy refused, are kept for `close`. */
  async open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.newPage(options);
    await page.goto(url);
    return page;
  }

  /** A page in a context of its own, before it shows anything. */
  async newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.browser.newContext(options);
    this.contexts.push(context);
    context.on("request", (request) => this.requested.push(request.url()));
    const page = await context.newPage();
    page.on("pageerror", (error) => this.faults.push(String(error.stack)));
    page.on("console", (message) => {
      // A browser reports each error response; the pages show those.
      if (message.type() === "error" && !/^Failed to load resource/.test(message.text())) {
        this.faults.push(message.text());
      }
    });
    return page;
  }

  /** Closes all pages; none of them had an error, and none sent a request to another host. */
  async close(): Promise<void> {
    for (const context of this.contexts.splice(0)) await context.close();
    expect(this.faults.splice(0)).toEqual([]);
    const outside = this.requested.splice(0).filter((url) =>
      !/^(data:|blob:|https?:\/\/(127\.0\.0\.1|localhost)[:/])/.test(url)
    );
    expect(outside).toEqual([]);
  }
}

/** axe finds no violation, in the light and in the dark theme. */
export async function expectAccessible(page: Page, name = page.url()): Promise<void> {
  await page.evaluate(axe.source);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const violations = await page.evaluate(async (whole) => {
      const { run } = (globalThis as unknown as { axe: typeof axe }).axe;
      const found = await run({
        preload: false,
        resultTypes: ["violations"],
        ...(whole ? {} : { runOnly: ["color-contrast"] }),
      });
      return found.violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
    }, colorScheme === "light");
    expect([name, colorScheme, violations]).toEqual([name, colorScheme, []]);
  }
}

/** The narrowest width that the pages are made for: a small phone, and a window of 1280 pixels at a zoom of 400 %. */
const NARROWEST = 320;

/** Nothing is wider than the page's window, nor than the narrowest one. */
export async function expectFits(page: Page): Promise<void> {
  const size = page.viewportSize()!;
  for (const width of [size.width, NARROWEST]) {
    await page.setViewportSize({ ...size, width });
    const [content, viewport] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect([page.url(), content]).toEqual([page.url(), viewport]);
  }
  await page.setViewportSize(size);
}

/**
 * In every column of a table and in every list of amounts, amounts of ada have six decimals and end at the same place:
 * their decimals are one under the other, since all digits have one width.
 */
export async function expectAligned(page: Page): Promise<void> {
  const wrong = await page.evaluate(() => {
    const columns = new Map<string, HTMLElement[]>();
    const add = (name: string, amount: HTMLElement | null) => {
      if (amount?.checkVisibility()) columns.set(name, [...columns.get(name) ?? [], amount]);
    };
    document.querySelectorAll("table").forEach((table, i) => {
      for (const cell of table.querySelectorAll<HTMLTableCellElement>("tbody td")) {
        // on a narrow screen a row is a card
        if (getComputedStyle(cell).display !== "table-cell") continue;
        const place = `${table.caption?.textContent ?? i}: ${cell.dataset.label}`;
        add(place, cell.querySelector<HTMLElement>(".amount"));
      }
    });
    document.querySelectorAll(".facts.right").forEach((list, i) => {
      for (const value of list.querySelectorAll("dd")) add(`list ${i}`, value.querySelector<HTMLElement>(".amount"));
    });
    return [...columns].flatMap(([name, amounts]) => {
      const ends = new Set(amounts.map((amount) => Math.round(amount.getBoundingClientRect().right)));
      const texts = amounts.map(({ textContent }) => textContent ?? "").filter((text) => / ada$/.test(text));
      const short = texts.filter((text) => !/\.\d{6} ada$/.test(text));
      const digits = amounts.filter((amount) => getComputedStyle(amount).fontVariantNumeric !== "tabular-nums");
      return ends.size > 1 || short.length + digits.length > 0 ? [[name, ...texts, ...ends]] : [];
    });
  });
  expect([page.url(), wrong]).toEqual([page.url(), []]);
}

/** The Tab key reaches at least so many parts of the page, each with a visible focus. */
export async function expectFocusVisible(page: Page, least = 6): Promise<void> {
  const seen = new Set<string>();
  for (let i = 0; i < least + 8; i++) {
    await page.keyboard.press("Tab");
    const { name, outline } = await page.evaluate(() => {
      const element = document.activeElement!;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return {
        name: `${element.tagName} ${element.textContent} ${element.id}`,
        outline: `${outlineStyle} ${outlineWidth}`,
      };
    });
    if (name.startsWith("BODY")) break;
    seen.add(name);
    expect([page.url(), name, outline]).toEqual([page.url(), name, "solid 2px"]);
  }
  expect([page.url(), seen.size >= least]).toEqual([page.url(), true]);
}

/**
 * Milliseconds from an input to the next frame that the browser has drawn behind it, measured in the page. `act` is a
 * selector that is clicked.
 */
export async function interactionMs(page: Page, selector: string): Promise<number> {
  return await page.evaluate(async (wanted) => {
    const element = document.querySelector<HTMLElement>(wanted);
    if (element === null) throw new Error(`no element ${wanted}`);
    const begun = performance.now();
    element.click();
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    return performance.now() - begun;
  }, selector);
}
