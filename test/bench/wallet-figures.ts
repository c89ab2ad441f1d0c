/** Figures of the wallet service beside those that the real system has published. */
import type { Running } from "./arbor.ts";
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
  /** Mean of the time from a request's arrival to its answer as the service itself measures it, as the published ones were. */
  readonly inside?: number;
  /** CPU of Arbor and PostgreSQL for each call, in ms. */
  readonly cpu?: number;
  readonly published?: Published;
}

/** Calls that are made before those that count; of those that only read as many as a second has. */
export const WARM_UP = 3;
const WARM_UP_MS = 1_000;
/** Samples of a call, and how long they may take together: at least five are taken. */
const SAMPLES = 40;
const LONGEST_MS = 4_000;
const LEAST = 5;

/** What a call is: method, path, and a body, made anew for each call where it is a function. */
export type HttpRequest = readonly [method: string, path: string, body?: unknown];

/** Times a call, one after the other; a status that is no success ends the command. */
export async function sample(
  { client, running }: { readonly client: Client; readonly running: Running },
  requestOf: () => HttpRequest | Promise<HttpRequest>,
  most = SAMPLES,
): Promise<Pick<Figure, "value" | "p95" | "samples" | "inside" | "cpu">> {
  const call = async () => {
    const [method, path, body] = await requestOf();
    const answer = await client.call(method, path, body);
    if (answer.status < 300) return { method, ms: answer.ms };
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.json())}`);
  };
  const warming = performance.now();
  for (let i = 0, reads = false; i < WARM_UP || (reads && performance.now() - warming < WARM_UP_MS); i++) {
    reads = (await call()).method === "GET";
  }
  const times: number[] = [];
  const before = { ...await measuredInside(running), cpu: running.cpu() };
  const begun = performance.now();
  while (times.length < most && (times.length < LEAST || performance.now() - begun < LONGEST_MS)) {
    times.push((await call()).ms);
  }
  const cpu = (running.cpu() - before.cpu) / times.length;
  const after = await measuredInside(running);
  return {
    value: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    samples: times.length,
    inside: (after.sum - before.sum) / (after.count - before.count) * 1_000,
    cpu,
  };
}

/** Seconds and requests of the wallet service so far, out of its own numbers. */
async function measuredInside({ operator }: Running): Promise<{ readonly sum: number; readonly count: number }> {
  const text = await fetch(`${operator}/metrics`).then((answer) => answer.text());
  const all = (name: string) =>
    [...text.matchAll(new RegExp(`^arbor_http_request_seconds_${name}\\{service="wallets".*\\} (\\S+)$`, "gm"))]
      .reduce((sum, [, value]) => sum + Number(value), 0);
  return { sum: all("sum"), count: all("count") };
}

/** A number with as many digits as say something. */
export function shown(value: number): string {
  return value < 10 ? value.toFixed(value < 1 ? 2 : 1) : Math.round(value).toLocaleString("en");
}

/** How many times ours is ahead, by like measures; a sentence where that cannot be said. */
function ratio({ value, inside, published }: Figure): string {
  if (!published) return "";
  if (published.unlike) return `not alike: ${published.unlike}`;
  return shown(published.value / (inside ?? value));
}

const HEAD = ["on", "what", "Arbor: p50, p95", "inside", "CPU", "samples", "cardano-wallet", "ratio", "its condition"];

/** The table with everything, in Markdown. */
export function fullTable(figures: readonly Figure[]): string[] {
  return markdown(
    HEAD,
    figures.map((one) => [
      one.at,
      one.what,
      measured(one),
      one.inside === undefined ? "" : `${shown(one.inside)} ms`,
      one.cpu === undefined ? "" : `${shown(one.cpu)} ms`,
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
    ["what, of the wallets", "Arbor: p50, p95", "inside", "cardano-wallet", "ratio"],
    figures.map((one) => [
      `${one.what}, ${one.at}`,
      measured(one),
      one.inside === undefined ? "" : `${shown(one.inside)} ms`,
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
