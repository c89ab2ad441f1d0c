/** Log lines as JSON on standard error, one object per line. Callers must not pass secrets. */
import process from "node:process";
import { errorCode } from "#src/base/errorCode.ts";
import { toJson } from "#src/base/json.ts";
import { throttleRepeats } from "#src/base/logThrottle.ts";

/** From the most lines to the fewest: the severities of syslog. */
export const LEVELS = ["debug", "info", "notice", "warn", "error", "critical", "alert", "emergency"] as const;
export type Level = (typeof LEVELS)[number];
/** The lowest level that is written; `off` writes nothing. */
export type Threshold = Level | "off";
const RANK = Object.fromEntries([...LEVELS, "off"].map((level, rank) => [level, rank])) as Record<Threshold, number>;

/** Thresholds of a process: one for all lines, and further ones for the lines of some components. */
export interface Thresholds {
  readonly all: Threshold;
  /** By the member `component` of a line; `""` is for lines of all components that are not named. */
  readonly components: Readonly<Record<string, Threshold>>;
}

/** A writer of log lines. */
export interface Log extends Record<Level, (message: string, fields?: Record<string, unknown>) => void> {
  /** Whether lines of a level are written, to skip expensive ones. */
  on(level: Level): boolean;
  /** A log that adds fields to every line; `component` selects its threshold. */
  with(fields: Record<string, unknown>): Log;
}

/** Message and code of a caught value, without the stack trace. */
export function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = errorCode(error);
  return error.message.includes(code) ? error.message : `${error.message} (${code})`;
}

/**
 * Creates a log that drops lines below a threshold and writes with `write`, by default to standard error. Frequent warnings
 * and errors with the same message are throttled; the member `repeated` is then the number of lines that one line
 * replaces.
 */
export function createLog(
  threshold: Threshold | Thresholds,
  fields: Record<string, unknown> = {},
  write: (line: string) => void = (line) => void process.stderr.write(line + "\n"),
): Log {
  const thresholds = typeof threshold === "string" ? { all: threshold, components: {} } : threshold;
  return logWith(thresholds, fields, write, throttleRepeats());
}

/** The rank from which on lines with these fields are written. */
function leastRank({ all, components }: Thresholds, { component }: Record<string, unknown>): number {
  const own = typeof component === "string" && Object.hasOwn(components, component) ? component : "";
  return Math.max(RANK[all], RANK[components[own] ?? "debug"]);
}

function logWith(
  thresholds: Thresholds,
  fields: Record<string, unknown>,
  write: (line: string) => void,
  hold: ReturnType<typeof throttleRepeats>,
): Log {
  const least = leastRank(thresholds, fields);
  const at = (name: Level) => (message: string, more: Record<string, unknown> = {}) => {
    if (RANK[name] < least) return;
    const time = new Date().toISOString();
    const put = (repeated?: number) =>
      write(
        toJson({ time, level: name, message, ...fields, ...more, ...(repeated === undefined ? {} : { repeated }) }),
      );
    if (RANK[name] < RANK.warn) put();
    else hold(`${name} ${message}`, put);
  };
  return {
    debug: at("debug"),
    info: at("info"),
    notice: at("notice"),
    warn: at("warn"),
    error: at("error"),
    critical: at("critical"),
    alert: at("alert"),
    emergency: at("emergency"),
    on: (name) => RANK[name] >= least,
    with: (more) => logWith(thresholds, { ...fields, ...more }, write, hold),
  };
}

/** A log that drops everything. */
export const silentLog: Log = createLog("off");
