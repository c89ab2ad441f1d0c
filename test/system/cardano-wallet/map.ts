/** The map of the real scenarios: one file for each file of the real tests, one entry for each scenario. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Reasons for which a scenario has no test here. */
export const REASONS = [
  /** A scenario of the command line. */
  "command line",
  /** The real tests leave it out: pending, or not reliable. */
  "pending",
  /** It needs a network that the tests have not: mainnet, a public test network, an era that has ended. */
  "network",
  /** The service does something else on purpose. */
  "deviation",
  /** It tests the real tests' own tools. */
  "internal",
] as const;

/** `row`: a row of the table of this file; otherwise a test elsewhere, or the reason why there is none. */
export type Entry =
  | "row"
  | { readonly test: string; readonly name: string }
  | { readonly reason: (typeof REASONS)[number]; readonly because: string };

export interface MapFile {
  /** Name without its ending. */
  readonly file: string;
  readonly text: string;
  readonly entries: Readonly<Record<string, Entry>>;
}

const folder = new URL("map/", import.meta.url);

export const mapFiles: readonly MapFile[] = readdirSync(folder).filter((name) => name.endsWith(".json")).sort().map(
  (name) => {
    const text = readFileSync(fileURLToPath(new URL(name, folder)), "utf8");
    return { file: name.replace(/\.json$/, ""), text, entries: JSON.parse(text) };
  },
);
