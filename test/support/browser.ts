/** A headless Chromium of this machine. */
import { accessSync, constants } from "node:fs";
import path from "node:path";
import process from "node:process";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Where Chromium is: `ARBOR_BROWSER`, or one of its usual names on the path; undefined where there is none, which is said. */
export function findBrowser(): string | undefined {
  const given = process.env.ARBOR_BROWSER;
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const places = given ? [given] : folders.flatMap((folder) => NAMES.map((name) => path.join(folder, name)));
  const found = places.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  if (found === undefined) {
    console.warn(
      "SKIPPED: the operator pages were not opened, there is no Chromium here. On Debian: apt-get install chromium " +
        "(or name one in ARBOR_BROWSER).",
    );
  }
  return found;
}

/** Starts it with an empty profile that goes when it ends, and without what it does on the network by itself. */
export async function startBrowser(executablePath: string): Promise<Browser> {
  return await chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
