/** Figures of the wallet service beside those that the real system has published. */
import type { Client } from "./wallet-http.ts";
import { percentile } from "./machine.ts";

/** A figure that cardano-wallet published, in the unit of ours. */
export interface Published {
  readonly value: number;
  /** Where it is from, and under what condition it was measured. */
  readonly under: string;
  /** Why the two are not alike, where they are not. */
  readonly unlike?: string;
}

/** One line of the table. */
export interface Figure {
  /** What it was measured on. */
  readonly at: string;
  readonly what: string;
  readonly unit: "ms" | "s" | "MB";
  /** The figure; of several samples their median. */
  readonly value: number;
  readonly p95?: number;
  readonly samples: number;
  readonly published?: Published;
}

/** Calls that are made before those that count. */
export const WARM_UP = 3;
/** Samples of a call, and how long they may take together: at least five are taken. */
const SAMPLES = 40;
const LONGEST_MS = 4_000;
const LEAST = 5;

/** What a call is: method, path, and a body, made anew for each call where it is a function. */
export type Asked = readonly [method: string, path: string, body?: unknown];

/** Times a call, one after the other; a status that is no success ends the command. */
export async function sample(
  client: Client,
  asked: () => Asked | Promise<Asked>,
  most = SAMPLES,
): Promise<Pick<Figure, "value" | "p95" | "samples"> & { readonly bytes: number }> {
  const times: number[] = [];
  let bytes = 0;
  const begun = performance.now();
  for (let i = -WARM_UP; i < most; i++) {
    if (i >= LEAST && performance.now() - begun > LONGEST_MS) break;
    const [method, path, body] = await asked();
    const answer = await client.call(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.json())}`);
    if (i >= 0) times.push(answer.ms);
    bytes = answer.bytes;
  }
  return { value: percentile(times, 0.5), p95: percentile(times, 0.95), samples: times.length, bytes };
}

/** A number with as many digits as say something. */
export function shown(value: number): string {
  return value < 10 ? value.toFixed(value < 1 ? 2 : 1) : Math.round(value).toLocaleString("en");
}

/** How many times ours is ahead; a sentence where that cannot be said. */
function ratio({ value, published }: Figure): string {
  if (!published) return "";
  if (published.unlike) return `not alike: ${published.unlike}`;
  return shown(published.value / value);
}

const HEAD = ["on", "what", "Arbor: p50, p95", "samples", "cardano-wallet", "ratio", "its condition"];

/** The table with everything, in Markdown. */
export function fullTable(figures: readonly Figure[]): string[] {
  return markdown(
    HEAD,
    figures.map((one) => [
      one.at,
      one.what,
      measured(one),
      String(one.samples),
      one.published ? `${shown(one.published.value)} ${one.unit}` : "",
      ratio(one),
      one.published?.under ?? "",
    ]),
  );
}

/** The rows for the README: what is beside a published figure, and the greatest of the others. */
export function readmeTable(figures: readonly Figure[]): string[] {
  return markdown(
    ["what, of the wallets", "Arbor: p50, p95", "cardano-wallet", "ratio"],
    figures.map((one) => [
      `${one.what}, ${one.at}`,
      measured(one),
      one.published ? `${shown(one.published.value)} ${one.unit} (${one.published.under})` : "",
      ratio(one),
    ]),
  );
}

function measured({ value, p95, unit }: Figure): string {
  return `${shown(value)}${p95 === undefined ? "" : `, ${shown(p95)}`} ${unit}`;
}

/** A table as the formatter of the repository leaves it. */
function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((cell, i) => Math.max(3, cell.length, ...rows.map((row) => row[i]!.length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)];
}
