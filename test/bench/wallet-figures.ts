/** Measurements of the wallet service compared with the published ones of cardano-wallet. */
import type { Running } from "./arbor.ts";
import type { Client } from "./wallet-http.ts";
import { percentile } from "./machine.ts";

/** A figure that cardano-wallet published, in our unit. */
export interface Published {
  readonly value: number;
  /** Its source, and the condition under which it was measured. */
  readonly under: string;
  /** Why the two are not comparable, if so. */
  readonly unlike?: string;
}

/** One line of the table. */
export interface Figure {
  /** The measured operation. */
  readonly at: string;
  readonly what: string;
  readonly unit: "ms" | "s" | "MB";
  /** The measured value; of several samples their median. */
  readonly value: number;
  readonly p95?: number;
  readonly samples: number;
  /**
   * Mean of the time from a request's arrival to its response, measured by the service itself like the published ones.
   */
  readonly inside?: number;
  /** CPU of Arbor and PostgreSQL for each call, in ms. */
  readonly cpu?: number;
  readonly published?: Published;
}

/** Warm-up calls; for reads as many as fit into a second. */
export const WARM_UP = 3;
const WARM_UP_MS = 1_000;
/** Samples of a call, and their maximum total time: at least five are taken. */
const SAMPLES = 40;
const LONGEST_MS = 4_000;
const LEAST = 5;

/** A call: method, path, and a body, built for each call if it is a function. */
export type HttpRequest = readonly [method: string, path: string, body?: unknown];

/** Times a call, sequentially; an error status ends the command. */
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

/** Seconds and requests of the wallet service so far, from its own metrics. */
async function measuredInside({ operator }: Running): Promise<{ readonly sum: number; readonly count: number }> {
  const text = await fetch(`${operator}/metrics`).then((answer) => answer.text());
  const all = (name: string) =>
    [...text.matchAll(new RegExp(`^arbor_http_request_seconds_${name}\\{service="wallets".*\\} (\\S+)$`, "gm"))]
      .reduce((sum, [, value]) => sum + Number(value), 0);
  return { sum: all("sum"), count: all("count") };
}

/** A number with its significant digits. */
export function shown(value: number): string {
  return value < 10 ? value.toFixed(value < 1 ? 2 : 1) : Math.round(value).toLocaleString("en");
}

/** The ratio in our favour, for comparable measurements; otherwise a sentence. */
function ratio({ value, inside, published }: Figure): string {
  if (!published) return "";
  if (published.unlike) return `not alike: ${published.unlike}`;
  return shown(published.value / (inside ?? value));
}

const HEAD = ["on", "what", "Arbor: p50, p95", "inside", "CPU", "samples", "cardano-wallet", "ratio", "its condition"];

/** The complete table, in Markdown. */
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

/** The rows for the README: those with a published figure, and the largest of the others. */
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

/** A table in the repository formatter's form. */
function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((cell, i) => Math.max(3, cell.length, ...rows.map((row) => row[i]!.length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)];
}
