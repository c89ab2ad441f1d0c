/** Log lines as JSON on standard error, one object per line. Callers must not pass secrets. */
import process from "node:process";
import { errorCode } from "#src/base/errorCode.ts";
import { toJson } from "#src/base/json.ts";
import { throttleRepeats } from "#src/base/logThrottle.ts";

/** From the most lines to the fewest. */
export const LEVELS = ["debug", "info", "warn", "error"] as const;
export type Level = (typeof LEVELS)[number];
const RANK: Record<Level, number> = { debug: 0, info: 1, warn: 2, error: 3 };

/** A writer of log lines. */
export interface Log extends Record<Level, (message: string, fields?: Record<string, unknown>) => void> {
  /** Whether lines of a level are written, to skip expensive ones. */
  on(level: Level): boolean;
  /** A log that adds fields to every line. */
  with(fields: Record<string, unknown>): Log;
}

/** Message and code of a caught value, without the stack trace. */
export function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = errorCode(error);
  return error.message.includes(code) ? error.message : `${error.message} (${code})`;
}

/**
 * Creates a log that drops lines below `level` and writes with `write`, by default to standard error. Frequent warnings
 * and errors with the same message are throttled; the member `repeated` is then the number of lines that one line
 * replaces.
 */
export function createLog(
  level: Level,
  fields: Record<string, unknown> = {},
  write: (line: string) => void = (line) => void process.stderr.write(line + "\n"),
): Log {
  return logWith(level, fields, write, throttleRepeats());
}

function logWith(
  level: Level,
  fields: Record<string, unknown>,
  write: (line: string) => void,
  hold: ReturnType<typeof throttleRepeats>,
): Log {
  const at = (name: Level) => (message: string, more: Record<string, unknown> = {}) => {
    if (RANK[name] < RANK[level]) return;
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
    warn: at("warn"),
    error: at("error"),
    on: (name) => RANK[name] >= RANK[level],
    with: (more) => logWith(level, { ...fields, ...more }, write, hold),
  };
}

/** A log that drops everything. */
export const silentLog: Log = createLog("error", {}, () => {});
