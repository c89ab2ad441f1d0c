/** Delays in negative acknowledgements. */
import type { Buffer } from "node:buffer";
import { readJson } from "#src/base/json.ts";
import { memberOf } from "#src/base/member.ts";

const MILLISECOND = 1e6;
const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  "µs": 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** Longest delay in milliseconds: that of a server's 64 bits. What a durable consumer stores must be a number. */
const MAX_DELAY_MS = 2 ** 63 / MILLISECOND;

/** The delay in milliseconds of a negative acknowledgement: ` {"delay": <nanoseconds>}` or ` 1m30s`. */
export function delayOf(body: Buffer): number | undefined {
  const text = body.toString("utf8").trim();
  if (text.startsWith("{")) {
    const delay = memberOf(readJson(body), "delay");
    return typeof delay === "number" || typeof delay === "bigint"
      ? Math.max(0, Math.min(Number(delay) / MILLISECOND, MAX_DELAY_MS))
      : 0;
  }
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)) {
    ms += Number(amount) * (UNITS[unit ?? ""] ?? 0);
  }
  return Math.min(ms, MAX_DELAY_MS);
}
