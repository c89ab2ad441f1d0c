/**
 * The browser that all test files of a run share: it starts when the first of them asks for it. Contexts keep what they
 * do apart.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, chromium } from "playwright-core";
import { inject } from "vitest";
import { startBrowserServer } from "./browser.ts";
import type {} from "../infra/providedContext.ts";

/** Serves the address of the browser, for the set-up of a run. */
export async function serveBrowser(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  let browser: ReturnType<typeof startBrowserServer> | undefined;
  const server = createServer(async (_request, response) => {
    browser ??= startBrowserServer();
    response.end((await browser)?.wsEndpoint() ?? "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await (await browser)?.kill();
    },
  };
}

/** A connection to the shared browser: closing it closes its contexts. Undefined where there is no browser. */
export async function sharedBrowser(): Promise<Browser | undefined> {
  const endpoint = await (await fetch(inject("browser"))).text();
  return endpoint === "" ? undefined : await chromium.connect(endpoint);
}
