/** Runs a headless Chromium that is installed on this machine. */
import { accessSync, constants } from "node:fs";
import path from "node:path";
import process from "node:process";
import { type Browser, type BrowserServer, chromium, type LaunchOptions } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "chrome.exe"];
/** Paths where packages install it without a name on PATH. */
const PLACES = [
  "/usr/lib/chromium/chromium",
  "/snap/bin/chromium",
  "/opt/google/chrome/chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];
const HOW = "On Debian: apt-get install chromium (or name one in ARBOR_BROWSER).";

/** Starts one with an empty profile, which is deleted when it ends, and without background network traffic. */
const LAUNCH: LaunchOptions = {
  timeout: 30_000,
  args: [
    // Root in a container has no sandbox; only the product's own pages are loaded.
    "--no-sandbox",
    // A container's /dev/shm is often too small.
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
};

/** A browser of the caller's own. Undefined, with a message, where none is found or none starts. */
export function startBrowser(): Promise<Browser | undefined> {
  return started((executablePath) => chromium.launch({ ...LAUNCH, executablePath }));
}

/** A browser that others connect to, at its `wsEndpoint()`; undefined as with `startBrowser`. */
export function startBrowserServer(): Promise<BrowserServer | undefined> {
  return started((executablePath) => chromium.launchServer({ ...LAUNCH, executablePath, host: "127.0.0.1" }));
}

async function started<T>(start: (program: string) => Promise<T>): Promise<T | undefined> {
  const program = findBrowser();
  if (program === undefined) {
    const given = process.env.ARBOR_BROWSER;
    skipped(given ? `ARBOR_BROWSER=${given} is no program. ${HOW}` : `there is no Chromium here. ${HOW}`);
    return undefined;
  }
  try {
    return await start(program);
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    skipped(`${program} does not start (${why}). ${HOW}`);
    return undefined;
  }
}

/** Path of Chromium: `ARBOR_BROWSER`, or one of its usual names on PATH, or one of its usual places. */
export function findBrowser(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = (env.PATH ?? "").split(path.delimiter).filter((folder) => folder !== "");
  const places = env.ARBOR_BROWSER
    ? [env.ARBOR_BROWSER]
    : [...folders.flatMap((folder) => NAMES.map((name) => path.join(folder, name))), ...PLACES];
  return places.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function skipped(why: string): void {
  console.warn(`SKIPPED: the operator pages were not opened, ${why}`);
}
